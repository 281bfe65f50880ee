import type { EngineState } from '../storage/memory/memory-engine.ts'

/** The state of a cluster at one moment. It shares with the cluster what does not change. */
export class Snapshot {
  /** @internal */
  readonly state: EngineState

  /** @internal */
  constructor(state: EngineState) {
    this.state = state
  }
}
