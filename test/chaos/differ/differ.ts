#!/usr/bin/env node
/** Command of the differential fuzzer. `npm run differ -- --help` describes its options. */
import { again } from './again.ts'
import { fuzz } from './fuzz.ts'
import { type Options, parseOptions, usage, UsageError } from './options.ts'
import { record, replayRecorded } from './record.ts'

async function run(options: Options): Promise<number> {
  switch (options.mode.kind) {
    case 'fuzz':
      return await fuzz(options)
    case 'record':
      return await record(options)
    case 'recorded':
      return await replayRecorded(options)
    case 'again':
      return await again(options.mode)
  }
}

const argv = process.argv.slice(2)
try {
  if (argv.includes('--help')) console.log(usage)
  else process.exitCode = await run(parseOptions(argv))
} catch (error) {
  const isUsage = error instanceof UsageError
  console.error(isUsage ? `differ: ${error.message}\n\n${usage}` : error)
  process.exitCode = isUsage ? 2 : 1
}
