import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Disturbance } from '../report/host.ts'
import { describeRounds, judge, type Round, roundOf, roundsThatCount } from './rounds.ts'

const quiet = (before: number, after: number): Round => ({
  before,
  after,
  stolen: 0,
  others: 0.01,
  isDisturbed: false,
})
const disturbed = (before: number, after: number, others: number): Round => ({
  before,
  after,
  stolen: 0,
  others,
  isDisturbed: true,
})

const isRegression = (rounds: readonly Round[]): boolean => {
  const { value, below } = judge(rounds)
  return value >= below
}

test('a load that costs 5 % more in every round is a regression', () => {
  const rounds = [200, 180, 260, 190, 210, 205].map((before) => quiet(before, before * 1.05))
  assert.ok(isRegression(rounds))
  assert.ok(Math.abs(judge(rounds).value - 1.05) < 1e-9)
})

test('a load that costs 2 % more in every round is not a regression', () => {
  assert.ok(!isRegression([200, 180, 260, 190].map((before) => quiet(before, before * 1.02))))
})

test('a difference within the spread of the rounds is not a regression', () => {
  const ratios = [0.9, 0.95, 1.05, 1.06, 1.1, 1.2]
  assert.ok(!isRegression(ratios.map((ratio) => quiet(100, 100 * ratio))))
})

test('a benchmark round is disturbed if the host or unrelated processes used CPU time while either server was measured', () => {
  const turn = { cpuMicros: 10, stolen: 0, others: 0.05 }
  const isDisturbed = (before: Disturbance, after: Disturbance): boolean =>
    roundOf({ before: { ...turn, ...before }, after: { ...turn, ...after } }).isDisturbed
  assert.ok(!isDisturbed(turn, turn))
  assert.ok(isDisturbed({ stolen: 0.03, others: 0 }, turn))
  assert.ok(isDisturbed(turn, { stolen: 0, others: 0.3 }))
})

test('disturbed benchmark rounds are used only if there are too few undisturbed rounds, beginning with the least disturbed round', () => {
  const rounds = [disturbed(1, 9, 0.5), quiet(1, 1), disturbed(1, 2, 0.2), quiet(1, 1.1)]
  assert.deepEqual(
    roundsThatCount(rounds, 3).map(({ after }) => after),
    [1, 1.1, 2],
  )
})

test('a report states how many rounds were disturbed and how many of the disturbed rounds count toward the result', () => {
  const rounds = [quiet(1, 1), disturbed(1, 2, 0.4), quiet(1, 1)]
  assert.equal(describeRounds([quiet(1, 1)], 1), '1.000 times')
  assert.equal(
    describeRounds(rounds, 2),
    '1.000 times; 1 of 3 rounds were disturbed (other processes up to 40 %, steal up to 0 %) and were repeated',
  )
  assert.match(describeRounds(rounds, 3), /the machine was not quiet, 1 of them count/)
})
