/**
 * Creates one Go program that contains the tests of all packages. Linking a program takes a minute,
 * and there are eighty packages. With Go's overlay, test files become files of ordinary packages
 * beside the tested ones. A generated file lists all tests for ../overlay/program_main.go.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

/**
 * Name of the folder in which the program is created. It is in the folder of integration tests of
 * each module.
 */
const FOLDER = 'program'

export type PackageLocation = {
  /** Name of the package in packages.txt. */
  readonly name: string
  /**
   * The folder of integration tests that contains the package, and the import path of that folder.
   */
  readonly folder: string
  readonly path: string
  /**
   * Path of the package's folder, relative to the folder of integration tests. Empty for this
   * folder itself.
   */
  readonly within: string
}

/**
 * The tests of one Go package. If some tests of a folder are in a package `x_test`, the folder has
 * two packages.
 */
type Suite = {
  readonly alias: string
  readonly path: string
  readonly tests: readonly string[]
  readonly hasMain: boolean
}

/** Overlay for Go: maps the path of each file to the file that Go reads instead. */
export type Overlay = Map<string, string>

/**
 * Writes the table of tests to the file `table`. Returns the overlay, which maps this file and the
 * files of the packages.
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

/** Returns the folder in which Go finds the files of a package, including test files. */
export const seenFolder = ({ folder, within }: PackageLocation): string =>
  join(folder, FOLDER, within === '' ? 'all' : within)

function planPackage({ folder, path, within, name }: PackageLocation, overlay: Overlay): Suite[] {
  const directory = join(folder, within)
  if (!existsSync(directory))
    throw new Error(`packages.txt lists ${name}, but the folder ${directory} does not exist`)
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

/** Returns the names of the package's tests. */
export const testsOf = (place: PackageLocation): string[] =>
  planPackage(place, new Map())
    .flatMap(({ tests }) => tests)
    .toSorted()

/**
 * Returns the name that Go gives the test program of a single package. Clients derive their names
 * from it, and tests expect these names.
 */
export const argv0Of = ({ path, within }: PackageLocation): string =>
  `${basename(join(path, within))}.test`
