/**
 * `keelson assets`: creates a folder for KUBEBUILDER_ASSETS. controller-runtime's envtest, and
 * tools modeled on it, start the programs `kube-apiserver`, `etcd` and `kubectl` in this folder.
 */
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { defaultMinor, releaseNames } from '../../api/releases.ts'
import { flags } from '../../config/flags.ts'
import { folderError, makeFolders } from '../../lib/process/files.ts'
import type { CommandFlagTable } from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'
import { parentVariable } from './parent.ts'

export const assetsFlags = {
  kubernetes: {
    type: 'string',
    value: 'version',
    choices: releaseNames,
    shownDefault: `1.${defaultMinor}`,
    help: flags.kubernetes.help,
  },
  dir: {
    type: 'string',
    value: 'folder',
    help: 'The folder to create. Default: a folder below ~/.cache/keelson, or below XDG_CACHE_HOME.',
  },
} as const satisfies CommandFlagTable

export const assetsHelp: CommandHelp = {
  usage: ['keelson assets [flags]'],
  description: `Prints a folder with kube-apiserver, etcd and kubectl, for tests that start a control
plane with controller-runtime's envtest:

  export KUBEBUILDER_ASSETS=$(npx keelson assets)
  go test ./...

kube-apiserver is Keelson. etcd is a stand-in that answers the health checks of envtest:
kube-apiserver keeps all objects in its memory until it ends. With TEST_ASSET_ETCD=/path/to/etcd,
they are kept in that etcd. kubectl is the one on the PATH, if there is one.`,
  sections: [{ flags: assetsFlags }],
}

export type AssetsOptions = {
  /** The absolute path of the folder. It is created if it does not exist. */
  readonly folder: string
  /** The command line that starts Keelson: a program and its first arguments. */
  readonly program: readonly string[]
  /** The command line that starts the substitute for etcd. */
  readonly standIn: readonly string[]
  readonly version: string
  /** Minor version of Kubernetes that kube-apiserver implements. */
  readonly release: number
  /**
   * The output of `kube-apiserver --help`, in which envtest searches for flags before each start.
   */
  readonly serveHelp: string
  /** The value of the environment variable PATH. */
  readonly path: string
}

const helpName = 'kube-apiserver.help'

/** Creates the folder. If this is not possible, throws an error that says what to do. */
export function writeAssets(options: AssetsOptions): void {
  const { folder } = options
  try {
    makeFolders(folder, 0o700)
    put(join(folder, helpName), options.serveHelp, 0o644)
    put(join(folder, 'kube-apiserver'), apiServerScript(options), 0o755)
    put(join(folder, 'etcd'), etcdScript(options), 0o755)
    putKubectl(join(folder, 'kubectl'), options)
  } catch (cause) {
    throw folderError(folder, cause, 'choose a writable folder with --dir')
  }
}

/**
 * Returns the kube-apiserver script. Before each start, envtest calls the script to find out which
 * flags exist. The shell answers these calls, because another start of Node would take longer than
 * everything else.
 */
const apiServerScript = ({ folder, program, version, release }: AssetsOptions): string => `#!/bin/sh
# Keelson in place of kube-apiserver; written by: keelson assets
export ${parentVariable}="$PPID"
case "\${1-}" in
  --help | -h) exec cat ${quote(join(folder, helpName))} ;;
  --version) echo 'Kubernetes v1.${release} (Keelson ${version})'; exit 0 ;;
esac
exec ${program.map(quote).join(' ')} kube-apiserver${release === defaultMinor ? '' : ` --kubernetes=1.${release}`} "$@"
`

const etcdScript = ({ standIn, version }: AssetsOptions): string => `#!/bin/sh
# Stands in for etcd beside Keelson; written by: keelson assets
export ${parentVariable}="$PPID"
case "\${1-}" in
  --help | -h)
    echo 'Stands in for etcd beside Keelson: it answers health checks and stores nothing.'
    echo '  --listen-client-urls'
    echo '        The addresses to listen on. All other flags are ignored.'
    exit 0 ;;
  --version | version)
    echo 'This is not etcd, but its stand-in beside Keelson ${version}, whose kube-apiserver keeps all objects in its memory'
    exit 0 ;;
esac
exec ${standIn.map(quote).join(' ')} "$@"
`

const noKubectl = `#!/bin/sh
echo 'kubectl was not on the PATH when keelson assets was run: install it (https://kubernetes.io/docs/tasks/tools) and run keelson assets again.' >&2
exit 1
`

function putKubectl(path: string, { path: searched, folder }: AssetsOptions): void {
  const found = searched
    .split(delimiter)
    .filter((one) => one !== '' && resolve(one) !== resolve(folder))
    .map((one) => join(one, 'kubectl'))
    .find(isExecutable)
  if (found === undefined) return put(path, noKubectl, 0o755)
  const draft = `${path}.${process.pid}`
  rmSync(draft, { force: true })
  symlinkSync(resolve(found), draft)
  renameSync(draft, path)
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return existsSync(path)
  } catch {
    // The file cannot be executed. The reason does not matter.
    return false
  }
}

/** Replaces a file atomically, so that concurrent tests start either the old or the new program. */
function put(path: string, text: string, mode: number): void {
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, text)
  chmodSync(draft, mode)
  renameSync(draft, path)
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
