/**
 * Applies the manifests of a folder, and can do so again when the folder has changed. It then
 * applies the changed manifests, and deletes the objects whose manifests no longer exist.
 */
import { createHash } from 'node:crypto'
import type { KubeObject } from '../../api/object.ts'
import { messageOf } from '../../lib/errors.ts'
import { printFast } from '../../objects/codec/json.ts'
import type { ApiClient } from './api-client.ts'
import { type AppliedObject, applyManifests } from './apply-manifests.ts'
import { ApplySet, type ApplySetScope, isSameScope, scopeOf, unionOf } from './apply-set.ts'
import { describeObject, groupKindOf, keyOf } from './object-names.ts'
import { type Manifest, type ParsedManifests, withoutDuplicates } from './parse-manifests.ts'
import { stageOf } from './stages.ts'

export type ApplyFolderOptions = {
  readonly client: ApiClient
  /** The absolute path of the folder. */
  readonly folder: string
  /** The version of Keelson. */
  readonly version: string
  readonly signal: AbortSignal
}

export type FolderChange = {
  readonly object: KubeObject
  readonly outcome: 'created' | 'configured' | 'deleted'
}

export type FolderResult = {
  readonly changes: readonly FolderChange[]
  /** Number of manifests whose objects did not change. */
  readonly unchanged: number
  readonly faults: readonly string[]
  /** Whether the server has rejected a request, which may succeed in another attempt. */
  readonly isRejected: boolean
  /**
   * The objects that have no manifest any more, but were not deleted because `faults` is not empty.
   */
  readonly kept: readonly KubeObject[]
}

/** A manifest that was applied. Its content is not stored, only a digest. */
type AppliedManifest = {
  /** A digest of the manifest. */
  readonly digest: string
  /** A key that identifies the object on the server. */
  readonly key: string
  readonly uid: string | undefined
}

const nowhere: ApplySetScope = { kinds: new Set(), namespaces: new Set() }

export class AppliedFolder {
  readonly #options: ApplyFolderOptions
  readonly #set: ApplySet
  /**
   * The manifests that were applied without an error, by the key that `keyOf` returns for the
   * object.
   */
  readonly #applied = new Map<string, AppliedManifest>()

  constructor(options: ApplyFolderOptions) {
    this.#options = options
    this.#set = new ApplySet(options)
  }

  /**
   * Applies the manifests, and deletes objects whose manifests no longer exist. Before that,
   * `isCurrent` checks that the folder has not changed again.
   */
  async apply(read: ParsedManifests, isCurrent: () => Promise<boolean>): Promise<FolderResult> {
    const { manifests, faults: duplicates } = withoutDuplicates(read.manifests)
    const recorded = await this.#set.read()
    const scope = unionOf(recorded ?? nowhere, scopeOf(manifests.map(({ object }) => object)))
    // Record the kinds before any objects are created. If the server stops before all objects are
    // created, Keelson can still find the created ones later, and delete them when their manifests
    // are removed.
    if (recorded !== undefined || manifests.length > 0) await this.#record(scope, recorded)
    const { applied, faults: rejected } = await this.#applyChanged(manifests)
    const faults = [...read.faults, ...duplicates, ...rejected]
    const changes: FolderChange[] = applied.flatMap(({ object, outcome }) =>
      outcome === 'unchanged' ? [] : [{ object, outcome }],
    )
    const unchanged = manifests.length - rejected.length - changes.length
    const members = await this.#set.members(scope)
    const removed = this.#withoutManifest(members, manifests)
    const isRejected = rejected.length > 0
    if (faults.length > 0) return { changes, unchanged, faults, isRejected, kept: removed }
    const isDeletable = removed.length === 0 || (await isCurrent())
    const deleted = isDeletable ? await this.#delete(removed) : { objects: [], faults: [] }
    changes.push(...deleted.objects.map((object) => ({ object, outcome: 'deleted' as const })))
    if (isDeletable && deleted.faults.length === 0 && (recorded ?? manifests[0]) !== undefined) {
      const gone = new Set<KubeObject>(removed)
      await this.#record(scopeOf(members.filter((member) => !gone.has(member))), scope)
    }
    return {
      changes,
      unchanged,
      faults: deleted.faults,
      isRejected: deleted.faults.length > 0,
      kept: [],
    }
  }

  /** Applies the manifests that have changed since the last call, and those that failed then. */
  async #applyChanged(manifests: readonly Manifest[]) {
    const digests = new Map(manifests.map((manifest) => [manifest, digestOf(manifest.object)]))
    const isChanged = (manifest: Manifest): boolean =>
      this.#applied.get(keyOf(manifest.object))?.digest !== digests.get(manifest)
    const changed = manifests.filter(isChanged)
    const others = manifests.filter((manifest) => !isChanged(manifest))
    const first = await this.#applyAll(changed, digests)
    // If a namespace or a CustomResourceDefinition had to be created, the objects in the namespace
    // or of the defined kind do not exist on the server. They are applied again, even if their
    // manifests have not changed.
    const isEmptied = first.applied.some(
      ({ object, outcome }) => outcome === 'created' && stageOfObject(object) === 0,
    )
    if (!isEmptied) return first
    const second = await this.#applyAll(others, digests)
    return {
      applied: [...first.applied, ...second.applied],
      faults: [...first.faults, ...second.faults],
    }
  }

  async #applyAll(manifests: readonly Manifest[], digests: ReadonlyMap<Manifest, string>) {
    for (const { object } of manifests) this.#applied.delete(keyOf(object))
    const { client, signal } = this.#options
    const { applied, faults } = await applyManifests(manifests, {
      client,
      signal,
      applySetOf: (manifest, existing) => this.#set.idFor(manifest, existing),
    })
    for (const [manifest, { object }] of applied) {
      this.#applied.set(keyOf(manifest.object), {
        digest: digests.get(manifest) ?? '',
        key: keyOf(object),
        uid: object.metadata.uid,
      })
    }
    const all: readonly AppliedObject[] = [...applied.values()]
    return { applied: all, faults }
  }

  /**
   * Returns the members of the ApplySet that have no manifest. The server returns some objects in
   * two API groups, under different keys. Such an object is recognized by its UID.
   */
  #withoutManifest(
    members: readonly KubeObject[],
    manifests: readonly Manifest[],
  ): readonly KubeObject[] {
    const known = new Set(manifests.map(({ object }) => keyOf(object)))
    for (const key of this.#applied.keys()) if (!known.has(key)) this.#applied.delete(key)
    const applied = [...this.#applied.values()]
    const keys = new Set([...known, ...applied.map(({ key }) => key)])
    const uids = new Set(applied.map(({ uid }) => uid))
    return members.filter(
      (member) =>
        !keys.has(keyOf(member)) &&
        !uids.has(member.metadata.uid) &&
        member.metadata.deletionTimestamp === undefined,
    )
  }

  /** Deletes objects in the reverse of the order in which they are applied. */
  async #delete(members: readonly KubeObject[]) {
    const objects: KubeObject[] = []
    const faults: string[] = []
    for (const member of members.toSorted(
      (one, other) => stageOfObject(other) - stageOfObject(one),
    )) {
      this.#options.signal.throwIfAborted()
      try {
        if (await this.#set.delete(member)) objects.push(member)
      } catch (error) {
        faults.push(`${describeObject(member)} cannot be deleted: ${messageOf(error)}`)
      }
    }
    return { objects, faults }
  }

  async #record(scope: ApplySetScope, recorded: ApplySetScope | undefined): Promise<void> {
    if (recorded === undefined || !isSameScope(scope, recorded)) await this.#set.write(scope)
  }
}

const stageOfObject = (object: KubeObject): number => stageOf(groupKindOf(object))

const digestOf = (object: KubeObject): string =>
  createHash('sha256').update(printFast(object)).digest('base64')
