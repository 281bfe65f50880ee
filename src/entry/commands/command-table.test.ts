import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printHelp } from '../../lib/process/command-help.ts'
import { commandTable } from './command-table.ts'
import { findCommand, printCommands, unknownCommand } from './find-command.ts'

test('each command can be loaded, and its help text begins with its name', async () => {
  for (const { name, isHidden = false, help, load } of commandTable) {
    assert.equal(typeof (await load()), 'function', name)
    const text = printHelp(await help())
    if (!isHidden) assert.ok(text.startsWith(`Usage: keelson ${name}`), text)
  }
})

const nameOf = (...words: readonly string[]): string | undefined =>
  findCommand(commandTable, words)?.command.name

test('a command is identified by the first words of the command line', () => {
  assert.equal(nameOf('dev', '--reset'), 'dev')
  assert.equal(nameOf('auth', 'why', '--as', 'x'), 'auth why')
  assert.equal(nameOf('auth'), undefined)
  assert.equal(nameOf('auth', 'wy'), undefined)
  assert.deepEqual(findCommand(commandTable, ['auth', 'why', 'a'])?.args, ['a'])
})

const linesFor = (...words: readonly string[]): readonly string[] =>
  unknownCommand(commandTable, words)

test('for an unknown command, a similar command is suggested', () => {
  assert.deepEqual(linesFor('sttus'), [
    'unknown command "sttus": keelson --help lists the commands',
    'did you mean keelson status?',
  ])
  assert.deepEqual(linesFor('atuh', 'why').slice(1), ['did you mean keelson auth why?'])
  assert.deepEqual(linesFor('auth', 'x'), [
    'keelson auth needs one of its commands: keelson auth why',
  ])
})

test('an unknown flag before the name of the command is reported, and a similar flag is suggested', () => {
  assert.deepEqual(linesFor('--versio'), [
    'unknown flag "--versio": the flags of a command follow its name; keelson --help lists the commands',
    'did you mean --version?',
  ])
  assert.deepEqual(linesFor('--data-dir=x', 'dev').length, 1)
})

test('the list of commands leaves out commands that only programs run', () => {
  const text = printCommands(commandTable)
  assert.match(text, /^ {2}auth why +Show why/m)
  assert.doesNotMatch(text, /kube-apiserver/)
})
