/**
 * Checks the names of types in src/, test/, bench/ and scripts/ (docs/style.md, section 2): a type
 * is named by what it is, and the type of constructor arguments is called XOptions. Prints every
 * violation and exits with 1 if there is one.
 */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Words that must not be a name or the end of a name, because they do not say what a type is. */
const endings = `
  Place Places Asked Asking Known Found Made Shown Given Told Telling Parts Passed Seams
  Surroundings Life Arrival Follower World Door
`

/** Words that must not be a name by themselves, because they need a noun, as in `StoredValue`. */
const words = `
  Acknowledged Acting Across Adding Admitted Allocating Answered Applied Applying Around Arrived
  Assigned At Audited Authenticated Before Beginning Begun Booted Bound Built Called Changed
  Changing Checked Chosen Classified Coerced Coming Committed Compared Compiled Controlled
  Converted Counted Covers Created Decided Deciding Decoded Deleted Described Done Doomed Due
  Enabled Encrypted Ended Entering Estimated Evaluated Exported Failed Fed Fetched Filled Filling
  Followed Following Foreign Forwarded Gathering Going Got Held Hit Hooked How Judged Kept
  Labelled Lacking Led Left Lexed Listed Loaded Longest Looked Mapped Marked Matched Measured
  Memoized Merging Metered Missing Mutated Named Noted Observed Of Opened Opening Own Owned Packed
  Parsed Paused Pending Placed Planned Posted Prepared Preparing Printed Probed Projected Pruned
  Put Ran Read Reading Received Recognized Reconciled Recorded Refused Registered Related Renewed
  Repaired Replaced Restored Reviewed Rewritten Room Ruled Running Saved Scanned Seen Selected
  Sent Served Settled Shared Showing Siege Signaled Sized Sleeper Slowest Sought Spent Spoken
  Started Starting Stored Taken Taking Things Tried Timed Typed Unmatched Unread Unreadable Unseen
  Updated Upgraded Validated Versioned Visited Vitals Waiting Wanted Watched Watching Weather
  Weighted Whole Wish Writing Written Wrong
`

const bannedWords = new Set(words.trim().split(/\s+/))
const bannedEnding = new RegExp(`(?:${endings.trim().split(/\s+/).join('|')})$`)

/** Suffixes that must not be used for the type of constructor arguments. */
const argumentSuffix = /(?:Args|Arguments|Deps|Dependencies|Params|Props)$/

const root = join(import.meta.dirname, '..', '..')
const declaration =
  /^\s*(?:export )?(?:declare )?(?:abstract )?(?:type (\w+)(?:<.*>)? =|interface (\w+)\b|class (\w+)\b)/gm
const constructor = /\bconstructor\(((?:[^()]|\([^()]*\))*)\)/g

function* faultsIn(text: string): Generator<string> {
  for (const [, type, interfaceName, className] of text.matchAll(declaration)) {
    const name = type ?? interfaceName ?? className ?? ''
    if (bannedWords.has(name) || bannedEnding.test(name))
      yield `${name} does not say what the type is`
  }
  for (const [, parameters = ''] of text.matchAll(constructor)) {
    for (const [, name = ''] of parameters.matchAll(/: (?:Readonly<)?([A-Z]\w*)/g)) {
      if (argumentSuffix.test(name))
        yield `${name}: the type of constructor arguments is called XOptions`
    }
  }
}

const files = globSync('{src,test,bench,scripts}/**/*.ts', { cwd: root })
const faults = files.flatMap((file) =>
  [...faultsIn(readFileSync(join(root, file), 'utf8'))].map((fault) => `${file}: ${fault}`),
)
for (const fault of faults) console.error(`${fault} (docs/style.md, section 2)`)
console.log(`names: ${files.length} files, ${faults.length} faults`)
process.exitCode = faults.length > 0 ? 1 : 0
