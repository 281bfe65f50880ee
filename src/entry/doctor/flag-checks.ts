/**
 * Compares the flags of a kube-apiserver with those of Keelson: which flags have the same meaning,
 * which ones have no effect, which ones are refused, and what changes when Keelson replaces
 * kube-apiserver.
 */
import { accessSync, constants, statSync } from 'node:fs'
import { checkArgs } from '../../config/config.ts'
import { defaultMinor, parseRelease, servedMinors } from '../../api/releases.ts'
import { gatesActedOn } from '../../config/feature-gates.ts'
import { readsFiles, replacePaths } from '../../config/file-flags.ts'
import type { FlagSwap } from '../../config/flag.ts'
import { type FlagName, flags, isFlagName } from '../../config/flags.ts'
import { parseArgs, type RawFlags } from '../../config/parse-args.ts'
import { type Check, ok } from './check.ts'
import { hostPathOf, type ServerCommand, type ServerPod } from './server-command.ts'

/** The user of Keelson's image (deploy/Containerfile). */
const IMAGE_USER_ID = 65_532
const OTHERS_CAN_READ = 0o004
const same = 'accepted with the same meaning'

/** A file that a flag names. */
type NamedFile = {
  readonly flag: FlagName
  /** The path in the flag. In a pod, this is a path in the container. */
  readonly path: string
  /** The path on this machine. Undefined if the pod does not mount the file from its host. */
  readonly hostPath: string | undefined
}

type CheckedFlags = {
  readonly raw: RawFlags
  readonly files: readonly NamedFile[]
  readonly releases: readonly number[]
}

/**
 * Checks a command line. `releases` are the releases that Keelson can serve. `release` is used if
 * no flag chooses a release. By default, it is that of the image of the pod.
 */
export function checkCommand(
  { args, pod }: ServerCommand,
  releases: readonly number[] = servedMinors,
  release: number | undefined = pod && servedReleaseOf(pod.image, releases),
): readonly Check[] {
  const { raw } = parseArgs(args)
  const files = filesOf(raw, pod)
  const problems = [...checkFiles(files), ...checkValues(args, { raw, files, releases, release })]
  const byName = Map.groupBy(problems, ({ name }) => name)
  const checked = [...raw].flatMap(([flag, values]) => {
    const found = byName.get(`--${flag}`)
    byName.delete(`--${flag}`)
    return found ?? [checkFlag(flag, values)]
  })
  return [
    ...checked,
    // The remaining results: unknown flags, missing flags, and errors that do not name a flag.
    ...[...byName.values()].flat(),
    ...checkUnset(raw),
    ...(pod === undefined ? [] : checkPod(pod, { raw, files, releases })),
  ]
}

function checkFlag(flag: FlagName, values: readonly string[]): Check {
  const name = `--${flag}`
  const { unused, swap = [] } = flags[flag]
  if (unused !== undefined) return ok(name, `accepted without effect: ${unused}`)
  const changed = swap.find(({ when }) => when !== 'unset' && values.some((one) => when.test(one)))
  if (changed !== undefined) return swapCheck(name, changed)
  const gates = flag === 'feature-gates' ? gatesWithoutEffect(values) : []
  if (gates.length > 0)
    return ok(name, `${same}, but these gates have no effect: ${gates.join(', ')}`)
  return ok(name, same)
}

const swapCheck = (name: string, { change, advice }: FlagSwap): Check => ({
  name,
  level: 'warning',
  value: change,
  action: advice,
})

function gatesWithoutEffect(values: readonly string[]): readonly string[] {
  const names = values
    .flatMap((value) => value.split(','))
    .map((entry) => entry.split('=')[0] ?? '')
  return names
    .map((name) => name.trim().replace(/^kube:/, ''))
    .filter((name) => name !== '' && !gatesActedOn.includes(name))
}

/**
 * Reports the flags that are not set and for which Keelson has a different default than
 * kube-apiserver.
 */
function checkUnset(raw: RawFlags): readonly Check[] {
  return Object.keys(flags)
    .filter(isFlagName)
    .filter((flag) => !raw.has(flag))
    .filter((flag) => flag !== 'authorization-mode' || !raw.has('authorization-config'))
    .flatMap((flag) =>
      (flags[flag].swap ?? [])
        .filter(({ when }) => when === 'unset')
        .map((swap) => swapCheck(`--${flag}`, { ...swap, change: `not set: ${swap.change}` })),
    )
}

function filesOf(raw: RawFlags, pod: ServerPod | undefined): readonly NamedFile[] {
  const files: NamedFile[] = []
  for (const [flag, values] of raw) {
    if (!readsFiles(flag) || flags[flag].refused !== undefined) continue
    for (const value of values)
      replacePaths(flag, value, (path) => {
        files.push({ flag, path, hostPath: pod === undefined ? path : hostPathOf(pod, path) })
        return path
      })
  }
  return files
}

function checkFiles(files: readonly NamedFile[]): readonly Check[] {
  return files.flatMap(({ flag, path, hostPath }): Check[] => {
    const name = `--${flag}`
    const problem = (value: string, action: string): Check[] => [
      { name, level: 'problem', value, action },
    ]
    if (hostPath === undefined)
      return problem(`${path} is in no hostPath volume of the pod`, 'mount the file in the pod')
    const state = stateOf(hostPath)
    if (state === 'missing')
      return problem(`${hostPath} does not exist`, 'create the file, or correct the path')
    if (state === 'unreadable')
      return problem(`this user cannot read ${hostPath}`, 'run keelson doctor as root')
    return []
  })
}

function stateOf(path: string): 'readable' | 'missing' | 'unreadable' {
  try {
    accessSync(path, constants.R_OK)
    return 'readable'
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EACCES'
      ? 'unreadable'
      : 'missing'
  }
}

/**
 * Reports the errors that `keelson serve` would report about these flags. Leaves out files that
 * cannot be read, which another check reports.
 */
function checkValues(
  args: readonly string[],
  { raw, files, releases, release }: CheckedFlags & { readonly release: number | undefined },
): readonly Check[] {
  const hostPaths = new Map(files.map(({ path, hostPath }) => [path, hostPath ?? path]))
  const known = [...raw].flatMap(([flag, values]) =>
    values.map((value) => {
      const local = readsFiles(flag)
        ? replacePaths(flag, value, (path) => hostPaths.get(path) ?? path)
        : value
      return `--${flag}=${local}`
    }),
  )
  // Another check suggests this flag. The values are checked as if it were set.
  const suggested =
    release === undefined || raw.has('kubernetes') ? [] : [`--kubernetes=1.${release}`]
  const result = checkArgs([...suggested, ...known], { releases })
  const parsed = parseArgs(args)
  const absent = files.filter((file) => stateOf(file.hostPath ?? file.path) !== 'readable')
  const faults = result.kind === 'faults' ? result.faults : []
  const hints = [...parsed.hints, ...(result.kind === 'faults' ? result.hints : [])]
  return [
    ...parsed.faults,
    ...faults.filter((fault) => !absent.some((file) => fault.includes(file.hostPath ?? file.path))),
  ].map((fault) => faultCheck(fault, [...raw.keys()], hints))
}

function faultCheck(fault: string, given: readonly FlagName[], hints: readonly string[]): Check {
  const [dashed] = /--[a-z0-9][a-z0-9-]*/.exec(fault) ?? []
  // Some messages of kube-apiserver contain the flag without its leading dashes.
  // Bounded: a server has only a few hundred flags.
  const plain = given.find((flag) => flag.includes('-') && fault.includes(flag))
  const name = dashed ?? (plain === undefined ? undefined : `--${plain}`)
  const advice = hints.filter((hint) => hint.startsWith(`${name}: `))
  return {
    name: name ?? 'flags',
    level: 'problem',
    value: `refused: ${fault}`,
    action:
      advice.map((hint) => hint.slice(hint.indexOf(': ') + 2)).join('; ') ||
      'remove or correct the flag',
  }
}

/** Checks what else changes if the image of a pod is replaced. */
function checkPod(pod: ServerPod, { raw, files, releases }: CheckedFlags): readonly Check[] {
  const userId = pod.userId ?? IMAGE_USER_ID
  const hidden = files.find(
    ({ hostPath }) => hostPath !== undefined && !isReadable(hostPath, userId),
  )
  return [
    checkImage(pod.image, raw.get('kubernetes')?.at(-1), releases),
    hidden === undefined
      ? ok('user', 'the container can read its files')
      : {
          name: 'user',
          level: 'warning',
          value: `the container runs as user ${userId}, which cannot read ${hidden.hostPath}`,
          action: 'set securityContext.runAsUser and runAsGroup of the container to 0',
        },
  ]
}

/** Returns the minor version of Kubernetes that the tag of an image names. */
function minorOf(image: string): number | undefined {
  const version = /:v1\.(\d+)\.\S+$/.exec(image)?.[1]
  return version === undefined ? undefined : Number(version)
}

const servedReleaseOf = (image: string, releases: readonly number[]): number | undefined =>
  releases.find((release) => release === minorOf(image))

/**
 * Compares the Kubernetes version of an image with the version that Keelson would serve
 * (--kubernetes).
 */
function checkImage(
  image: string,
  kubernetes: string | undefined,
  releases: readonly number[],
): Check {
  const minor = minorOf(image)
  const chosen = kubernetes === undefined ? undefined : parseRelease(kubernetes, releases)
  const release = chosen !== undefined && 'minor' in chosen ? chosen.minor : defaultMinor
  if (minor === undefined || minor === release) return ok('image', image)
  return {
    name: 'image',
    level: 'warning',
    value: `${image}, but Keelson serves v1.${release}`,
    action: releases.includes(minor)
      ? `set --kubernetes=1.${minor}`
      : `first change kube-apiserver to v1.${release}`,
  }
}

/** Whether a user can read a file. A file that this process cannot find is reported elsewhere. */
function isReadable(path: string, userId: number): boolean {
  if (userId === 0) return true
  const { uid, mode } = statSync(path, { throwIfNoEntry: false }) ?? { uid: userId, mode: 0 }
  return uid === userId || (mode & OTHERS_CAN_READ) !== 0
}
