/**
 * Records the changes to the objects of a run, as reported by the database, and the responses that
 * clients received.
 */
import type { FeedEvent } from '../../../../src/storage/engine.ts'
import type { Commit } from '../../../../src/storage/local-feed-stream.ts'
import { History } from '../history.ts'
import { judge } from '../judge.ts'
import { Model } from '../model.ts'
import { prefix } from '../operations.ts'
import type { Replay } from '../replay.ts'

export class Truth {
  /**
   * Watchers of the current database. A restore checks the existing watchers and then clears this
   * list.
   */
  replays: Replay[] = []
  #model = new Model()
  #history = new History(1)
  readonly #faults: string[] = []
  #isRestored = false

  get model(): Model {
    return this.#model
  }

  /** Whether the database was ever restored. */
  get isRestored(): boolean {
    return this.#isRestored
  }

  get history(): History {
    return this.#history
  }

  readonly onCommit = ({ revision, events }: Commit): void => {
    const changes = events
      .filter(({ key }) => key.startsWith(prefix))
      .map((event) => this.#changeOf(event))
    this.#history.add(changes, revision)
  }

  /** Called when the database is restored to this revision. */
  restore(revision: number): void {
    this.#faults.push(...this.#judge(false))
    this.replays = []
    this.#isRestored = true
    this.#model = this.#model.restored(revision)
    this.#history = this.#history.restored(revision)
  }

  judge(): string[] {
    return [...this.#faults, ...this.#judge(true)]
  }

  #judge(isComplete: boolean): string[] {
    return [
      ...judge(this.#model, this.#history),
      ...this.replays.flatMap((replay) => replay.judge(this.#history, isComplete)),
    ]
  }

  #changeOf({
    key,
    type,
    revision,
    createRevision,
    value,
  }: FeedEvent): ReturnType<History['of']>[number] {
    if (type === 'delete') return { key, revision, createRevision: 0, version: 0, value: undefined }
    const before = this.#history.valueAt(key, revision)?.version ?? 0
    return { key, revision, createRevision, version: before + 1, value: value.toString() }
  }
}
