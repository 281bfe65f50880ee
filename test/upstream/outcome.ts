/** Parses the output of one Go test. */

export type Verdict = 'pass' | 'fail' | 'skip'

export type TestOutcome = {
  readonly result: Verdict
  /**
   * Flags that the test requested, but that the server does not support. They were left out. If the
   * test passes nevertheless, this may be meaningless.
   */
  readonly dropped: readonly string[]
  /** Names of failed subtests. */
  readonly failed: readonly string[]
  /** The last lines of the failure, or the reason for skipping. */
  readonly said: readonly string[]
}

/**
 * Flags without which a test cannot be meaningful, because the test is about the feature that they
 * configure.
 */
const essentialFlags = /^(emulated-version|encryption-provider-config|tracing-config-file)$/
const NO_SERVER = 'it started no external server'
const LINES_MAX = 6
const LINE_LENGTH_MAX = 400
const SUBTESTS_MAX = 20

/** Flags that the files in overlay/ set for every server, even for tests that do not need them. */
const ownFlags =
  /^(requestheader-(allowed-names|client-ca-file|extra-headers-prefix|group-headers|username-headers)|proxy-client-(cert|key)-file)$/
/** Flags that can name several features. Their values show which of the features is missing. */
const listFlags =
  /^(feature-gates|runtime-config|(enable|disable)-admission-plugins|authorization-mode)$/
const ownLines =
  /extserver: start|extserver: dropped|Resolved testserver|runtime-config=|Starting kube-apiserver|Waiting for \/healthz/

export function readOutcome(text: string, test: string): TestOutcome {
  const verdicts = [...text.matchAll(/^\s*--- (PASS|FAIL|SKIP): (\S+)/gm)].map(
    ([, verdict = '', name = '']) => ({
      name,
      result: verdictOf(verdict),
    }),
  )
  const own = verdicts.find(({ name }) => name === test)?.result ?? 'fail'
  const subtests = verdicts.filter(({ name }) => name !== test)
  // If all subtests were skipped, the test has no result.
  const isEmpty =
    subtests.some(({ result }) => result === 'skip') &&
    !subtests.some(({ result }) => result === 'pass')
  // Without this line, the test has started no separate server, so its result says nothing about
  // the server under test.
  const hasServer = text.includes('extserver: start')
  const dropped = droppedFlags(text)
  const missing = dropped.find((flag) => essentialFlags.test(flag))
  const result = own === 'pass' && (isEmpty || !hasServer || missing !== undefined) ? 'skip' : own
  const failed = subtests
    .filter((subtest) => subtest.result === 'fail')
    .map(({ name }) => name.slice(test.length + 1))
  const saidOf = (): string[] => {
    if (result === 'pass') return []
    if (own !== 'pass' || isEmpty) return reasons(text, result)
    return [hasServer ? `it had no --${missing}` : NO_SERVER]
  }
  return {
    result,
    dropped,
    failed: failed.slice(0, SUBTESTS_MAX),
    said: saidOf(),
  }
}

const verdictOf = (word: string): Verdict =>
  word === 'PASS' ? 'pass' : word === 'SKIP' ? 'skip' : 'fail'

function droppedFlags(text: string): string[] {
  const flags = [...text.matchAll(/extserver: dropped --(.*)/g)].flatMap(([, list = '']) =>
    list.split(' --'),
  )
  const named = flags
    .map((flag) => ({ flag, name: flag.replace(/=.*/s, '') }))
    .filter(({ name }) => !ownFlags.test(name))
    .map(({ flag, name }) => (listFlags.test(name) ? flag : name))
  return [...new Set(named)]
}

function reasons(text: string, result: Verdict): string[] {
  const panic = /^panic: .*/m.exec(text)?.[0]
  if (panic !== undefined)
    return [panic.includes('test timed out') ? 'timed out' : panic.slice(0, LINE_LENGTH_MAX)]
  const lines = text
    .split('\n')
    .filter((line) => /^\s+\S+\.go:\d+: /.test(line) && !ownLines.test(line))
  return lines
    .slice(result === 'skip' ? -1 : -LINES_MAX)
    .map((line) => line.trim().slice(0, LINE_LENGTH_MAX))
}
