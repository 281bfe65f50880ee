/**
 * What a scenario may need of its server besides the usual flags (`needs`), by name. A server is
 * started for each of them in turn; one that runs already has to have what `--with` names. The
 * set-ups stand in the folder of that name, a file for each area.
 */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { IssuerOptions } from './issuers.ts'
import { isRecord } from './json.ts'
import type { HookAnswer } from './steps.ts'

/**
 * Flags and files may hold `${dir}` (the folder of the server, where the files are, and
 * client-ca.pem, proxy-ca.pem and hook-ca.pem), `${hook.name}` and `${issuer.name}` (addresses) and
 * `${pem.client}`, `${pem.proxy}`, `${pem.hook}` (the certificates themselves).
 */
export type SetUp = {
  readonly flags: readonly string[]
  /** Besides, on the reference: it is not ready before it can watch all kinds of its gates. */
  readonly referenceFlags?: readonly string[]
  /** Besides, on Keelson: its controllers. */
  readonly keelsonFlags?: readonly string[]
  /**
   * The flags of a kube-controller-manager that runs beside the reference, as its administrator;
   * they may hold `${dir}`.
   */
  readonly manager?: readonly string[]
  /**
   * Names of usual flags that this server does not get: a list, such as of authorization modes,
   * would be added to.
   */
  readonly omit?: readonly string[]
  /** By name: a text, or a value that is written as JSON (which is YAML, too). */
  readonly files?: Readonly<Record<string, unknown>>
  /**
   * Webhooks that the server calls for all scenarios. A call whose body mentions the namespace of a
   * scenario is answered by the hook of that name of this scenario, if it has one, and is among its
   * HOOKED calls; all others get the answer given here.
   */
  readonly hooks?: Readonly<Record<string, HookAnswer>>
  /** OpenID issuers, by name. */
  readonly issuers?: Readonly<Record<string, IssuerOptions>>
  /**
   * A server without these flags and files ran before on the same etcd: what every cluster starts
   * with is there.
   */
  readonly isRestarted?: boolean
  /** The history reaches back to the start only. */
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
      throw new Error(`set-ups/${file} has to export setUps, by name, as set-ups.ts has them`)
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

/** Fails with the name of what is missing. */
export function setUpOf(all: ReadonlyMap<string, SetUp>, name: string | undefined): SetUp {
  if (name === undefined) return { flags: [] }
  const found = all.get(name)
  if (found === undefined)
    throw new Error(`there is no set-up ${name}: add it to a file in test/recorded/compat/set-ups`)
  return found
}
