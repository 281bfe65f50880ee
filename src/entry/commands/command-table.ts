/**
 * The table of commands, in the order of `keelson --help`. The dispatch, the help texts, the
 * reference page, the manual pages and the completions of shells use it. A row names the modules of
 * a command, which are loaded only for that command.
 */
import type { CommandEntry } from './command-context.ts'

const serveHelp = async () => (await import('../../config/serve-help.ts')).serveHelp()

export const commandTable: readonly CommandEntry[] = [
  {
    name: 'dev',
    summary: 'Start the API server on this machine, and write a kubeconfig.',
    alsoTakesFlagsOf: 'serve',
    help: async () => (await import('../dev/dev-flags.ts')).devHelp,
    load: async () => (await import('./dev.ts')).dev,
  },
  {
    name: 'status',
    summary: 'List the servers that keelson dev runs on this machine.',
    help: async () => (await import('../dev/status.ts')).statusHelp,
    load: async () => (await import('./status.ts')).status,
  },
  {
    name: 'stop',
    summary: 'Stop keelson dev servers.',
    help: async () => (await import('../dev/stop.ts')).stopHelp,
    load: async () => (await import('./stop.ts')).stop,
  },
  {
    name: 'serve',
    summary: 'Serve the Kubernetes API, with the data in etcd or in a folder.',
    help: serveHelp,
    load: async () => (await import('./serve.ts')).serve,
  },
  {
    name: 'run',
    summary: 'Run a command, such as tests, with its own API server.',
    help: async () => (await import('./run-flags.ts')).runHelp,
    load: async () => (await import('./run.ts')).run,
  },
  {
    name: 'assets',
    summary: 'Create a folder for envtest, and print its path for KUBEBUILDER_ASSETS.',
    help: async () => (await import('../envtest/assets.ts')).assetsHelp,
    load: async () => (await import('./assets.ts')).assets,
  },
  {
    name: 'store',
    summary:
      'Copy the objects of a cluster between etcd, a data folder and a file, or encrypt them.',
    help: async () => (await import('./store-flags.ts')).storeHelp,
    load: async () => (await import('./store.ts')).store,
  },
  {
    name: 'auth why',
    summary: 'Show why a user may or may not do something.',
    help: async () => (await import('./why-flags.ts')).whyHelp,
    load: async () => (await import('./auth.ts')).auth,
  },
  {
    name: 'doctor',
    summary: 'Check whether Keelson can run on this machine.',
    help: async () => (await import('../doctor/doctor-flags.ts')).doctorHelp,
    load: async () => (await import('./doctor.ts')).doctor,
  },
  {
    name: 'check-crd',
    summary: 'Check which Kubernetes versions accept CustomResourceDefinitions.',
    help: async () => (await import('./check-crd-flags.ts')).checkCrdHelp,
    load: async () => (await import('./check-crd.ts')).checkCrd,
  },
  {
    name: 'health',
    summary: 'Check the health of a server, for example in a container.',
    help: async () => (await import('./health-flags.ts')).healthHelp,
    load: async () => (await import('./health.ts')).health,
  },
  {
    name: 'completion',
    summary: 'Print a script that completes command lines in a shell.',
    help: async () => (await import('./completion.ts')).completionHelp,
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: 'version',
    summary: 'Show the versions of Keelson, Kubernetes and Node.',
    help: async () => (await import('./version.ts')).versionHelp,
    load: async () => (await import('./version.ts')).version,
  },
  {
    name: 'help',
    summary: 'Show the help text of a command.',
    help: async () => (await import('./help.ts')).helpHelp,
    load: async () => (await import('./help.ts')).help,
  },
  {
    name: 'kube-apiserver',
    summary: 'Serve the Kubernetes API for envtest.',
    isHidden: true,
    help: serveHelp,
    load: async () => (await import('./kube-apiserver.ts')).kubeApiServer,
  },
]
