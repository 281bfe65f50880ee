/**
 * Raw flags and files to one checked Config. All faults are found and told together, before anything starts; each says
 * what to do about it.
 */
import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import type { TokenEntry } from '../api/user.ts'
import { type FlagName, flags } from './flags.ts'
import { parseArgs, type RawFlags } from './parse-args.ts'
import { parseTokenFile } from './token-file.ts'

export type Config = {
  readonly etcd: { readonly servers: readonly string[]; readonly prefix: string }
  readonly bindAddress: string
  readonly port: number
  /** Where clients reach the server. */
  readonly advertiseAddress: string
  readonly tls:
    | { readonly kind: 'files'; readonly certificatePem: string; readonly keyPem: string }
    /** Used when it is there, made when it is not. */
    | { readonly kind: 'folder'; readonly path: string }
  readonly tokens: readonly TokenEntry[]
}

export type Checked =
  | { readonly kind: 'config'; readonly config: Config }
  | { readonly kind: 'faults'; readonly faults: readonly string[] }

const authorizationModes: ReadonlySet<string> = new Set(['Node', 'RBAC'])
const reconcilerTypes: ReadonlySet<string> = new Set(['lease', 'none'])

export function checkArgs(args: readonly string[]): Checked {
  const { raw, faults } = parseArgs(args)
  return new Checker(raw, faults).check()
}

class Checker {
  readonly #raw: RawFlags
  readonly #faults: string[]

  constructor(raw: RawFlags, faults: readonly string[]) {
    this.#raw = raw
    this.#faults = [...faults]
  }

  check(): Checked {
    const bindAddress = this.#address('bind-address')
    const config: Config = {
      etcd: { servers: this.#etcdServers(), prefix: this.#string('etcd-prefix') },
      bindAddress,
      port: this.#port(),
      advertiseAddress: this.#address('advertise-address') || bindAddress,
      tls: this.#tls(),
      tokens: this.#tokens(),
    }
    this.#checkWithoutEffect()
    if (this.#faults.length > 0) return { kind: 'faults', faults: this.#faults }
    return { kind: 'config', config: deepFreeze(config) }
  }

  #etcdServers(): string[] {
    const servers = this.#list('etcd-servers')
    if (servers.length === 0) {
      this.#fault('--etcd-servers must be specified: say where etcd is, as in --etcd-servers=http://127.0.0.1:2379')
    }
    for (const server of servers) {
      if (!/^https?:$/.test(URL.parse(server)?.protocol ?? '')) {
        this.#fault(`--etcd-servers: ${JSON.stringify(server)} is not a URL such as http://127.0.0.1:2379`)
      }
    }
    return servers
  }

  #port(): number {
    const text = this.#string('secure-port')
    const port = Number(text)
    if (/^[0-9]+$/.test(text) && port >= 1 && port <= 65_535) return port
    this.#fault(`--secure-port ${text} must be between 1 and 65535, inclusive. It cannot be turned off with 0`)
    return 0
  }

  #tls(): Config['tls'] {
    const certificatePath = this.#string('tls-cert-file')
    const keyPath = this.#string('tls-private-key-file')
    if (certificatePath === '' && keyPath === '') {
      return { kind: 'folder', path: this.#string('cert-dir') }
    }
    if (certificatePath === '' || keyPath === '') {
      const absent = certificatePath === '' ? '--tls-cert-file' : '--tls-private-key-file'
      this.#fault(`${absent} is missing: --tls-cert-file and --tls-private-key-file are given together or not at all`)
    }
    return {
      kind: 'files',
      certificatePem: this.#file('tls-cert-file', certificatePath),
      keyPem: this.#file('tls-private-key-file', keyPath),
    }
  }

  #tokens(): TokenEntry[] {
    const path = this.#string('token-auth-file')
    const { tokens, faults } = parseTokenFile(path, this.#file('token-auth-file', path))
    for (const fault of faults) this.#fault(fault)
    return tokens
  }

  /** Flags that say something about parts that are not there yet: a mistake in them is still a mistake. */
  #checkWithoutEffect(): void {
    const modes = this.#list('authorization-mode')
    for (const mode of modes) {
      if (!authorizationModes.has(mode)) {
        this.#fault(`--authorization-mode ${JSON.stringify(mode)} is not supported: use Node,RBAC`)
      }
    }
    if (new Set(modes).size < modes.length) {
      const shown = modes.map((mode) => JSON.stringify(mode)).join(' ')
      this.#fault(`authorization-mode [${shown}] has mode specified more than once`)
    }
    const reconciler = this.#string('endpoint-reconciler-type')
    if (!reconcilerTypes.has(reconciler)) {
      this.#fault(`--endpoint-reconciler-type ${JSON.stringify(reconciler)} is not supported: use lease or none`)
    }
    const privileged = this.#string('allow-privileged')
    if (!/^(true|false)$/.test(privileged)) {
      this.#fault(`--allow-privileged ${JSON.stringify(privileged)} must be true or false`)
    }
    for (const range of this.#list('service-cluster-ip-range')) {
      const [address = '', bits = ''] = range.split('/')
      if (isIP(address) === 0 || !/^[0-9]+$/.test(bits)) {
        this.#fault(`--service-cluster-ip-range ${JSON.stringify(range)} is not a range such as 10.0.0.0/16`)
      }
    }
    const keyFiles = this.#list('service-account-key-file')
    for (const path of keyFiles) this.#file('service-account-key-file', path)
    this.#file('service-account-signing-key-file', this.#string('service-account-signing-key-file'))
    for (const plugin of this.#list('disable-admission-plugins')) {
      if (plugin !== 'ServiceAccount') {
        this.#fault(`--disable-admission-plugins: there is no plugin ${JSON.stringify(plugin)}; known: ServiceAccount`)
      }
    }
    for (const controller of this.#list('controllers')) {
      if (!/^-?\*$/.test(controller)) {
        this.#fault(`--controllers: there is no controller ${JSON.stringify(controller)}; use "*" or "-*"`)
      }
    }
  }

  #address(name: FlagName): string {
    const value = this.#string(name)
    if (value !== '' && isIP(value) === 0) this.#fault(`--${name} ${JSON.stringify(value)} is not an IP address`)
    return value
  }

  /** The last value counts; empty when there is none and no default. */
  #string(name: FlagName): string {
    return this.#raw.get(name)?.at(-1) ?? flags[name].default ?? ''
  }

  #list(name: FlagName): string[] {
    const values = this.#raw.get(name) ?? []
    return values.flatMap((value) => value.split(',')).filter((value) => value !== '')
  }

  /** The text of a file; empty for no path, and for a file that cannot be read, which is a fault. */
  #file(name: FlagName, path: string): string {
    if (path === '') return ''
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error)
      this.#fault(`--${name}: ${path} cannot be read (${why}): give the path of a readable file`)
      return ''
    }
  }

  #fault(text: string): void {
    this.#faults.push(text)
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  for (const inner of Object.values(value)) deepFreeze(inner)
  return Object.freeze(value)
}
