/**
 * Reads how a machine starts kube-apiserver: from the manifest of a static pod, or from a unit file
 * of systemd.
 */
import { basename } from 'node:path'
import { type Fields, fieldsOf, isFields, listOf, textOf } from '../../api/object.ts'
import { parseManifests } from '../apply/parse-manifests.ts'
import { type ReadEnvironment, readUnitCommand } from './unit-file.ts'

export type ServerCommand = {
  /** The command-line arguments of kube-apiserver, without the name of the program. */
  readonly args: readonly string[]
  /** The pod in which kube-apiserver runs. Undefined if systemd starts kube-apiserver. */
  readonly pod?: ServerPod
}

export type ServerPod = {
  readonly image: string
  /**
   * The user ID that the pod sets for the container. Undefined if the pod sets none, so that the
   * image determines the user.
   */
  readonly userId: number | undefined
  /** Folders and files of the host, by their path in the container. */
  readonly mounts: ReadonlyMap<string, string>
}

export type CommandFault = { readonly fault: string }

export function readServerCommand(
  text: string,
  path: string,
  readEnvironment: ReadEnvironment,
): ServerCommand | CommandFault {
  if (/^\[Service\]\s*$/m.test(text)) {
    const words = readUnitCommand(text, readEnvironment)
    const args = argumentsOf(words)
    return args === undefined
      ? { fault: `${path}: no ExecStart line starts kube-apiserver` }
      : { args }
  }
  const { manifests, faults } = parseManifests(text, (line) => `${path}:${line}`)
  const [fault] = faults
  if (fault !== undefined) return { fault }
  for (const { object } of manifests) {
    const command = readPod(fieldsOf(object['spec']))
    if (command !== undefined) return command
  }
  return { fault: `${path}: is neither a unit file nor a Pod with a container of kube-apiserver` }
}

/** Returns the arguments after the program, or undefined if another program is started. */
function argumentsOf(words: readonly string[]): readonly string[] | undefined {
  const at = words.findIndex((word) => basename(word) === 'kube-apiserver')
  return at === -1 ? undefined : words.slice(at + 1)
}

function readPod(spec: Fields): ServerCommand | undefined {
  const volumes = new Map(
    listOf(spec['volumes']).map((volume) => {
      const { name, hostPath } = fieldsOf(volume)
      return [textOf(name), textOf(fieldsOf(hostPath)['path'])] as const
    }),
  )
  for (const container of listOf(spec['containers']).filter(isFields)) {
    const words = [...listOf(container['command']), ...listOf(container['args'])].map(textOf)
    const args = argumentsOf(words)
    if (args === undefined) continue
    const mounts = new Map(
      listOf(container['volumeMounts']).map((mount) => {
        const { name, mountPath, subPath } = fieldsOf(mount)
        const source = volumes.get(textOf(name)) ?? ''
        return [textOf(mountPath), [source, textOf(subPath)].filter(Boolean).join('/')] as const
      }),
    )
    const userId = userOf(container) ?? userOf(spec)
    return { args, pod: { image: textOf(container['image']), userId, mounts } }
  }
  return undefined
}

function userOf(fields: Fields): number | undefined {
  const user = fieldsOf(fields['securityContext'])['runAsUser']
  return typeof user === 'number' ? user : undefined
}

/**
 * Converts a path in the container to the path on the host. Returns undefined if no volume from the
 * host contains the path. If several mounts contain it, the one with the longest path applies.
 */
export function hostPathOf({ mounts }: ServerPod, path: string): string | undefined {
  const mount = [...mounts.keys()]
    .filter((one) => path === one || path.startsWith(`${one.replace(/\/$/, '')}/`))
    .toSorted((one, other) => other.length - one.length)[0]
  const source = mount === undefined ? '' : mounts.get(mount)
  if (mount === undefined || source === undefined || source === '') return undefined
  return `${source}${path.slice(mount.replace(/\/$/, '').length)}`
}
