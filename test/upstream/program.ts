/**
 * One Go program with the tests of all packages. Linking one takes a minute, and packages are
 * eighty: so their test files are seen (by Go's overlay) as those of ordinary packages beside them,
 * and a generated file has the table of their tests for ../overlay/program_main.go.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/** Where the program is seen, in each module's folder of integration tests. */
const FOLDER = 'program'

export type PackageLocation = {
  /** As packages.txt has it. */
  readonly name: string
  /** The folder of integration tests that the package is in, and its import path. */
  readonly folder: string
  readonly path: string
  /** The package's own folder within it; empty: the folder itself. */
  readonly within: string
}

/** Tests of one Go package. A folder has two of them where some of its tests are in `x_test`. */
type Suite = {
  readonly alias: string
  readonly path: string
  readonly tests: readonly string[]
  readonly hasMain: boolean
}

/** What Go is to see: path of a file, and the file that it reads instead. */
export type Overlay = Map<string, string>

/**
 * The table of tests goes to `table`; returns what the overlay needs for it and for the packages.
 */
export function planProgram(
  places: readonly PackageLocation[],
  main: PackageLocation,
  table: string,
): Overlay {
  const overlay: Overlay = new Map()
  const suites = new Map<string, Suite[]>()
  for (const place of places) {
    const planned = planPackage(place, overlay).filter(({ tests }) => tests.length > 0)
    suites.set(place.name, planned)
  }
  mkdirSync(dirname(table), { recursive: true })
  writeFileSync(table, suiteTable(suites))
  overlay.set(join(main.folder, FOLDER, 'suites.go'), table)
  return overlay
}

export const programPath = (main: PackageLocation): string => `${main.path}/${FOLDER}`
export const mainFile = (main: PackageLocation): string => join(main.folder, FOLDER, 'main.go')

/** Where Go sees a package's files, those of tests among them. */
export const seenFolder = ({ folder, within }: PackageLocation): string =>
  join(folder, FOLDER, within === '' ? 'all' : within)

function planPackage({ folder, path, within, name }: PackageLocation, overlay: Overlay): Suite[] {
  const directory = join(folder, within)
  if (!existsSync(directory))
    throw new Error(`packages.txt has ${name}, and there is no folder ${directory}`)
  const files = readdirSync(directory).filter((file) => file.endsWith('.go'))
  const texts = new Map(files.map((file) => [file, readFileSync(join(directory, file), 'utf8')]))
  const own = files.filter((file) => !isExternal(texts.get(file) ?? ''))
  const external = files.filter((file) => !own.includes(file))
  return [own, external].map((part, index) => {
    const place = join(FOLDER, `${within === '' ? 'all' : within}${index === 0 ? '' : '_external'}`)
    for (const file of part)
      overlay.set(
        join(folder, place, file.replace(/_test\.go$/, '_tests.go')),
        join(directory, file),
      )
    const text = part
      .filter((file) => file.endsWith('_test.go'))
      .map((file) => texts.get(file) ?? '')
      .join('\n')
    return {
      alias: `${name.replaceAll(/\W/g, '_')}_${index}`,
      path: `${path}/${place}`,
      tests: [...text.matchAll(/^func (Test(?![a-z])\w*)\(\w+ \*testing\.T\)/gm)].map(
        ([, test = '']) => test,
      ),
      hasMain: /^func TestMain\(\w+ \*testing\.M\)/m.test(text),
    }
  })
}

const isExternal = (text: string): boolean => /^package \w+_test$/m.test(text)

function suiteTable(suites: ReadonlyMap<string, readonly Suite[]>): string {
  const imports = [...suites.values()].flat().map(({ alias, path }) => `\t${alias} "${path}"`)
  const rows = [...suites].map(([name, parts]) => {
    const tests = parts.flatMap(({ alias, tests: names }) =>
      names.map((test) => `{"${test}", ${alias}.${test}}`),
    )
    const main = parts.find(({ hasMain }) => hasMain)
    const entry = main === undefined ? 'nil' : `${main.alias}.TestMain`
    return `\t"${name}": {${entry}, []testing.InternalTest{${tests.join(', ')}}},`
  })
  return `package main

import (
\t"testing"

${imports.join('\n')}
)

var suites = map[string]suite{
${rows.join('\n')}
}
`
}

/** Names of the package's tests. */
export const testsOf = (place: PackageLocation): string[] =>
  planPackage(place, new Map())
    .flatMap(({ tests }) => tests)
    .toSorted()

/**
 * What Go calls the test program of a package alone: clients name themselves after it, and tests
 * expect that.
 */
export const argv0Of = ({ path, within }: PackageLocation): string =>
  `${basename(join(path, within))}.test`
