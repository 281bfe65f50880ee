import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { FrameSource } from '../../api/request.ts'
import { cutFrames } from './cut-watch.ts'

const info = {
  kind: 'resource',
  verb: 'watch',
  group: '',
  version: 'v1',
  plural: 'configmaps',
  subresource: '',
  namespace: '',
  name: '',
  segments: [],
  isWatchPath: false,
} as const

/**
 * Returns what a client receives from a watch that a test ends after some events. `batches` are the
 * frames of the watch.
 */
function sent(
  batches: readonly (readonly string[])[],
  afterEvents: number,
  isLines: boolean,
): string {
  const left = batches.values()
  let isClosed = false
  const source: FrameSource = {
    take: () => left.next().value?.map((frame) => Buffer.from(frame)),
    onReady: () => undefined,
    close: () => {
      isClosed = true
    },
  }
  const { frames, watch } = cutFrames(source, { info, isLines, onEnd: () => undefined })
  watch.closeAfter(afterEvents)
  let text = ''
  for (let taken = frames.take(); taken !== undefined; taken = frames.take()) text += taken.join('')
  assert.ok(isClosed)
  return text
}

test('a watch that is cut after a number of events ends with a complete event, even if frames contain parts of events', () => {
  const parts = [['a', 'b\n', 'c\n'], ['d'], ['e\nf\ng', 'h\n']]
  assert.deepEqual(
    [0, 1, 2, 3, 4, 5].map((afterEvents) => sent(parts, afterEvents, true)),
    ['', 'ab\n', 'ab\nc\n', 'ab\nc\nde\n', 'ab\nc\nde\nf\n', 'ab\nc\nde\nf\ngh\n'],
  )
})

test('a watch that is cut after a number of events counts each frame as one event in formats other than JSON', () => {
  const frames = [['a\n', 'b\n\n'], ['c']]
  assert.deepEqual(
    [1, 2, 3, 9].map((afterEvents) => sent(frames, afterEvents, false)),
    ['a\n', 'a\nb\n\n', 'a\nb\n\nc', 'a\nb\n\nc'],
  )
})
