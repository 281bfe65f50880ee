/**
 * Merges the texts of all releases into a single text. A line that not all releases have gets a
 * mark such as `@34+`, which states its releases. src/objects/schema/release-lines.ts reads the
 * marks.
 */

/** A line that is not indented, and the indented lines below it. */
export type Block = { readonly head: string; readonly lines: readonly string[] }

/** The blocks of each release, in ascending order of the releases. */
export type ReleaseBlocks = readonly {
  readonly release: number
  readonly blocks: readonly Block[]
}[]

/** A line, and the consecutive releases that have it. */
type Line = { readonly text: string; readonly first: number; last: number }

/** Returns the merged blocks. `newest` is the newest release of the catalogue. */
export function mergeReleases(releases: ReleaseBlocks, newest: number): readonly Block[] {
  const heads: Line[] = []
  for (const { release, blocks } of releases) {
    let at = 0
    for (const { head } of blocks) {
      const known = heads.findIndex(({ text, last }) => text === head && last === release - 1)
      const existing = heads[known]
      if (existing === undefined) heads.splice(at++, 0, newLine(head, release))
      else {
        existing.last = release
        at = known + 1
      }
    }
  }
  const oldest = releases[0]?.release ?? 0
  return heads.map((head) => {
    const lines = mergeLines(
      releases
        .filter(({ release }) => release >= head.first && release <= head.last)
        .map(({ release, blocks }) => ({
          release,
          lines: blocks.find((block) => block.head === head.text)?.lines ?? [],
        })),
    )
    return {
      head: marked(head, { first: oldest, last: newest }, newest),
      lines: lines.map((line) => marked(line, head, newest)),
    }
  })
}

type Range = { readonly first: number; readonly last: number }

/**
 * Appends a mark with the releases of a line. The mark is omitted if the surrounding block exists
 * in the same releases.
 */
function marked({ text, first, last }: Line, around: Range, newest: number): string {
  if (first === around.first && last === around.last) return text
  if (first === last && last !== newest) return `${text} @${first}`
  return `${text} @${first}${last === newest ? '+' : `-${last}`}`
}

const newLine = (text: string, release: number): Line => ({ text, first: release, last: release })

type ReleaseLines = readonly { readonly release: number; readonly lines: readonly string[] }[]

/** Merges lines so that the lines of each release keep their order. */
function mergeLines(releases: ReleaseLines): readonly Line[] {
  let merged: readonly Line[] = []
  for (const { release, lines } of releases) merged = mergeRelease(merged, lines, release)
  return merged
}

/**
 * Merges the lines of the next release into the lines of the earlier releases. The longest common
 * subsequence determines which lines are the same.
 */
function mergeRelease(
  merged: readonly Line[],
  lines: readonly string[],
  release: number,
): readonly Line[] {
  const isSame = (line: Line | undefined, text: string | undefined): boolean =>
    line?.text === text && line?.last === release - 1
  const lengths = merged.map(() => lines.map(() => 0))
  const lengthAt = (one: number, other: number): number => lengths[one]?.[other] ?? 0
  for (let one = merged.length - 1; one >= 0; one--)
    for (let other = lines.length - 1; other >= 0; other--) {
      const row = lengths[one] ?? []
      row[other] = isSame(merged[one], lines[other])
        ? lengthAt(one + 1, other + 1) + 1
        : Math.max(lengthAt(one + 1, other), lengthAt(one, other + 1))
    }
  const result: Line[] = []
  let one = 0
  for (let other = 0; other < lines.length; ) {
    const line = merged[one]
    if (line !== undefined && isSame(line, lines[other])) {
      result.push({ ...line, last: release })
      one++
      other++
    } else if (line !== undefined && lengthAt(one + 1, other) >= lengthAt(one, other + 1)) {
      result.push(line)
      one++
    } else {
      result.push(newLine(lines[other] ?? '', release))
      other++
    }
  }
  return [...result, ...merged.slice(one)]
}
