/**
 * Server set-ups by name. A scenario names the set-up that it needs (`needs`). A server is started
 * for each set-up, one after the other. If the tests run on an existing server instead, `--with`
 * lists the set-ups that it has. The folder set-ups contains a file for each area.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { IssuerOptions } from './issuers.ts'
import { isRecord } from './json.ts'
import type { HookAnswer } from './steps.ts'

/**
 * Configuration of a server. Flags and files can contain these references:
 *
 * - `${dir}` is the folder of the server. It has the files, and client-ca.pem, proxy-ca.pem and
 *   hook-ca.pem.
 * - `${hook.name}` and `${issuer.name}` are URLs.
 * - `${pem.client}`, `${pem.proxy}` and `${pem.hook}` are the certificates themselves.
 */
export type SetUp = {
  readonly flags: readonly string[]
  /**
   * Additional flags for certain releases and all later ones. The key is the minor version of the
   * first release.
   */
  readonly since?: Readonly<Record<number, readonly string[]>>
  /**
   * Additional flags of kube-apiserver. It needs them to become ready: it must be able to watch all
   * kinds that its feature gates enable.
   */
  readonly referenceFlags?: readonly string[]
  /** Additional flags of Keelson, for its controllers. */
  readonly keelsonFlags?: readonly string[]
  /**
   * Flags of a kube-controller-manager that runs next to kube-apiserver, with administrator rights.
   * They can contain `${dir}`.
   */
  readonly manager?: readonly string[]
  /**
   * Names of default flags that this server does not get. If a list flag, such as the authorization
   * modes, were repeated, its values would be added to the default ones.
   */
  readonly omit?: readonly string[]
  /**
   * Contents of files, by file name. A value that is not a string is written as JSON, which is also
   * valid YAML.
   */
  readonly files?: Readonly<Record<string, unknown>>
  /**
   * Webhooks that the server calls for all scenarios. The body of a call can mention the namespace
   * of a scenario that has a webhook of the same name. In this case, the webhook of the scenario
   * handles the call, and a step can record it. The function that is given here responds to all
   * other calls.
   */
  readonly hooks?: Readonly<Record<string, HookAnswer>>
  /** OpenID issuers, by name. */
  readonly issuers?: Readonly<Record<string, IssuerOptions>>
  /**
   * Whether another server runs on the same etcd before this one, without these flags and files. It
   * creates the initial objects of a cluster.
   */
  readonly isRestarted?: boolean
  /** Whether the history is compacted once the server is ready. */
  readonly isCompacted?: boolean
}

export type SetUps = Readonly<Record<string, SetUp>>

const directory = join(import.meta.dirname, 'set-ups')

export async function loadSetUps(): Promise<ReadonlyMap<string, SetUp>> {
  const all = new Map<string, SetUp>()
  for (const file of readdirSync(directory).toSorted()) {
    const module: unknown = await import(pathToFileURL(join(directory, file)).href)
    const setUps = isRecord(module) ? module['setUps'] : undefined
    if (!isSetUps(setUps))
      throw new Error(`set-ups/${file} must export setUps, by name (see set-ups.ts)`)
    for (const [name, setUp] of Object.entries(setUps)) {
      if (all.has(name))
        throw new Error(`two set-ups are named ${name}, the second in set-ups/${file}: rename one`)
      all.set(name, setUp)
    }
  }
  return all
}

const isSetUps = (value: unknown): value is SetUps =>
  isRecord(value) &&
  Object.values(value).every((entry) => isRecord(entry) && Array.isArray(entry['flags']))

/** Returns a set-up by name. Throws an error if it does not exist. */
export function setUpOf(all: ReadonlyMap<string, SetUp>, name: string | undefined): SetUp {
  if (name === undefined) return { flags: [] }
  const found = all.get(name)
  if (found === undefined)
    throw new Error(`there is no set-up ${name}: add it to a file in test/recorded/compat/set-ups`)
  return found
}
