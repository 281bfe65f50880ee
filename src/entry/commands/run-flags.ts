/** The flags of `keelson run`. */
import { ownControllers, parseControllers } from '../../config/controllers.ts'
import {
  type CommandFlagTable,
  missingValues,
  readCommandFlags,
} from '../../lib/process/command-flags.ts'
import type { CommandHelp } from '../../lib/process/command-help.ts'

const runFlags = {
  apply: {
    type: 'string',
    value: 'folder',
    help: 'Apply the manifests of this folder or file before the command starts.',
  },
  controllers: {
    type: 'string',
    value: 'list',
    choices: ownControllers,
    isList: true,
    help: 'The controllers of kube-controller-manager to run in the server: NAME, or * for all. An empty list runs none, as in envtest. Default: all.',
  },
} as const satisfies CommandFlagTable

export const runHelp: CommandHelp = {
  usage: ['keelson run [flags] -- COMMAND [ARGS]'],
  description: `Starts a server with its own port and with objects in memory, runs the command, and
stops the server. The command gets the server in KUBECONFIG, and USE_EXISTING_CLUSTER=true for
envtest. Several can run at once.

  keelson run -- go test ./...
  keelson run --apply=config/crd --controllers= -- npm test

The exit status is that of the command, 128 and the number of the signal that ended it, or 127 if
the command was not found. SIGINT, SIGTERM and SIGHUP are passed on to the command.`,
  sections: [{ flags: runFlags }],
}

export type RunFlags = {
  readonly apply: string | undefined
  /** The items of --controllers, or undefined if the flag is not set. */
  readonly controllers: readonly string[] | undefined
  readonly program: string
  readonly args: readonly string[]
}

export function readRunFlags(
  args: readonly string[],
): RunFlags | { readonly faults: readonly string[] } {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  const { values, rest } = readCommandFlags(args.slice(0, end), runFlags)
  const [program, ...programArgs] = args.slice(end + 1)
  const controllers = values.get('controllers')
  const apply = values.get('apply')
  const named = controllers?.split(',').filter((name) => name !== '')
  const checked = parseControllers(named ?? [])
  const hasNoProgram = program === undefined || program === ''
  const faults = [
    ...checked.faults,
    ...(apply === '' ? missingValues({ values: new Map([['apply', apply]]) }) : []),
    ...rest.map((argument) => `keelson run does not take ${argument} before --`),
    ...(hasNoProgram
      ? ['keelson run needs a command after --, for example: keelson run -- go test ./...']
      : []),
  ]
  if (hasNoProgram || faults.length > 0) return { faults: [...faults, ...checked.hints] }
  return {
    apply,
    controllers: named,
    program,
    args: programArgs,
  }
}
