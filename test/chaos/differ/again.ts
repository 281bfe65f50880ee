/**
 * Sends the requests of recorded differences again, and prints the differences that still exist.
 */
import { readFileSync } from 'node:fs'
import { parseLines } from './data.ts'
import { child, textAt } from './json-positions.ts'
import { Runner } from './runner.ts'
import { Servers } from './servers.ts'
import { isStep } from './step.ts'

/** Returns the exit status of the command. */
export async function again({
  file,
  line,
}: {
  readonly file: string
  readonly line: number | undefined
}): Promise<number> {
  const findings = parseLines(readFileSync(file, 'utf8'))
  const chosen = line === undefined ? findings : findings.slice(line - 1, line)
  await using servers = new Servers()
  const [reference, keelson] = await Promise.all([servers.openReference(), servers.openKeelson()])
  const runner = new Runner(reference.target, keelson.target)
  let failed = 0
  for (const finding of chosen) {
    const requests = child(finding, 'requests')
    if (!Array.isArray(requests) || !requests.every(isStep))
      throw new Error(`${file}: a line has no requests`)
    const { steps, differences } = await runner.run(requests)
    const name = textAt(finding, 'cause') || textAt(finding, 'signature')
    console.log(`${differences.length === 0 ? 'SAME' : 'DIFFERS'} ${name}`)
    if (differences.length > 0) failed++
    for (const { index, lines, want, got } of differences) {
      console.log(`  ${JSON.stringify(steps[index])}\n    ${lines.join('\n    ')}`)
      if (line !== undefined)
        console.log(JSON.stringify({ reference: want, keelson: got }, undefined, 1))
    }
  }
  console.log(`${chosen.length - failed} passed, ${failed} failed`)
  return failed > 0 ? 1 : 0
}
