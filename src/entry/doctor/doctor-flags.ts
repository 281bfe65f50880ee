/** The flags of `keelson doctor`. */
import { defaultMinor, parseRelease, releaseNames, servedMinors } from '../../api/releases.ts'
import { flags } from '../../config/flags.ts'
import {
  type CommandFlagTable,
  missingValues,
  outputFlag,
  readCommandFlags,
} from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'
import type { TlsOptions } from '../../net/grpc/tls.ts'

const DEFAULT_PORT = 6443

const doctorFlags = {
  manifest: {
    type: 'string',
    value: 'file',
    help: 'The manifest of the static pod of kube-apiserver, which kubeadm writes to /etc/kubernetes/manifests, or a unit file of systemd. The command keelson doctor FILE has the same effect.',
  },
  kubernetes: {
    type: 'string',
    value: 'version',
    choices: releaseNames,
    shownDefault: `1.${defaultMinor}`,
    help: 'The Kubernetes release of the server.',
  },
  'secure-port': {
    type: 'string',
    value: 'port',
    shownDefault: `${DEFAULT_PORT}`,
    help: 'The port on which the server will listen.',
  },
  'data-dir': {
    type: 'string',
    value: 'folder',
    shownDefault: './.keelson',
    help: 'The folder in which the server will store its data.',
  },
  'etcd-servers': {
    type: 'string',
    value: 'list',
    help: 'The etcd that the server will use. Its version and its clock are checked.',
  },
  'etcd-cafile': { type: 'string', value: 'file', help: flags['etcd-cafile'].help },
  'etcd-certfile': { type: 'string', value: 'file', help: flags['etcd-certfile'].help },
  'etcd-keyfile': { type: 'string', value: 'file', help: flags['etcd-keyfile'].help },
  output: outputFlag,
} as const satisfies CommandFlagTable

export const doctorHelp: CommandHelp = {
  usage: ['keelson doctor [flags]', 'keelson doctor --manifest=file'],
  description: `Checks whether Keelson can run on this machine, and prints a line for each check: ok,
warning or problem, the measured value, and what to do. The exit status is 0 if there is no problem,
and 1 if there is one. It changes nothing, and calls only the given etcd.

With --manifest, it checks the flags of a kube-apiserver instead: whether Keelson accepts each of
them with the same meaning, accepts it without effect or refuses it, what changes if Keelson
replaces the server, and which files are missing.`,
  sections: [{ flags: doctorFlags }],
}

export type DoctorFlags = {
  /** The file whose flags are checked. If undefined, the machine is checked. */
  readonly manifest: string | undefined
  /** Minor version of Kubernetes that the server will implement. Undefined if it is not chosen. */
  readonly release: number | undefined
  readonly port: number
  readonly dataDir: string
  readonly etcdServers: readonly string[]
  readonly etcdTls: TlsOptions | undefined
  readonly isJson: boolean
}

export function readDoctorFlags(
  args: readonly string[],
  releases: readonly number[] = servedMinors,
): DoctorFlags | { readonly faults: readonly string[] } {
  const read = readCommandFlags(args, doctorFlags)
  const { values } = read
  const files = read.rest.filter((argument) => !argument.startsWith('-'))
  const manifest = values.get('manifest') ?? files.shift()
  const rest = [...read.rest.filter((argument) => argument.startsWith('-')), ...files]
  const port = Number(values.get('secure-port') ?? DEFAULT_PORT)
  const output = values.get('output')
  const chosen = parseRelease(values.get('kubernetes') ?? `1.${defaultMinor}`, releases)
  const faults = [
    ...missingValues(read),
    ...rest.map(
      (argument) => `unknown argument ${argument}: keelson doctor --help lists the flags`,
    ),
    ...(Number.isInteger(port) && port > 0 && port < 65_536
      ? []
      : ['--secure-port must be a number from 1 to 65535']),
    ...('fault' in chosen ? [`--kubernetes: ${chosen.fault}`] : []),
    ...(output === undefined || output === 'json' ? [] : ['--output must be json']),
  ]
  if ('fault' in chosen || faults.length > 0) return { faults }
  const text = (name: string): string | undefined => values.get(name)
  const tls = { ca: text('etcd-cafile'), cert: text('etcd-certfile'), key: text('etcd-keyfile') }
  return {
    manifest,
    release: values.has('kubernetes') ? chosen.minor : undefined,
    port,
    dataDir: values.get('data-dir') ?? './.keelson',
    etcdServers: (values.get('etcd-servers') ?? '').split(',').filter((url) => url !== ''),
    etcdTls: Object.values(tls).some((file) => file !== undefined) ? tls : undefined,
    isJson: output === 'json',
  }
}
