import { expect, test } from 'vitest'
import { ok } from '../base/result.ts'
import { parseCommandLine } from '../emulator/shell/command-line.ts'
import { answerConsole, parseConsole, setCommand, setPoliciesCommand, type ConsoleController } from './console.ts'

function controller(): ConsoleController & { text: string; changes: object[] } {
  const c = {
    epoch: 3,
    text: '1 0 job a meta_op 5\n',
    changes: [] as object[],
    get policiesText() {
      return c.text
    },
    status: () => ({ job: 'caf\u00c3\u00a9\u2028' }) as never,
    checkPolicies: (text: string) =>
      text.includes('bad') ? [{ line: 2, column: 7, severity: 'error' as const, message: 'unknown class' }] : [],
    setPolicies: (text: string) => {
      c.text = text
      return ok(undefined)
    },
    change: (change: object) => {
      c.changes.push(change)
      return ok(undefined)
    },
  }
  return c
}

const argsOf = (command: string): readonly string[] => {
  const steps = parseCommandLine(command)
  if (!steps.ok) throw new Error(steps.error)
  const [step] = steps.value
  const args = step?.pipe?.[0]?.words ?? step?.words ?? []
  expect(steps.value).toHaveLength(1)
  return args.slice(2)
}

test('a change survives the way through a shell', () => {
  const change = {
    algorithm: 'psfa',
    epsilon: 0.1,
    split: 'usage',
    collectRounds: 5,
    limits: [
      { scope: 'meta_op', rate: 1000 },
      { scope: 'open', rate: null },
    ],
  } as const
  expect(parseConsole(argsOf(setCommand(change, 7)))).toEqual(ok({ kind: 'set', epoch: 7, change }))
})

test('a policy text reaches the controller byte for byte, whatever it holds', () => {
  const hostile = '1 0 job a\'; rm -rf / #$(id)`id`%s%n\\ meta_op 5\n2 0 job \u00e9\u0001\t"x" open 7'
  const steps = parseCommandLine(setPoliciesCommand(hostile, 3))
  if (!steps.ok) throw new Error(steps.error)
  expect(steps.value).toHaveLength(1)
  expect(steps.value[0]?.words).toEqual(['printf', '%s', hostile])
  expect(steps.value[0]?.pipe?.[0]?.words).toEqual(['sluice', 'padll', 'policies', 'set', '--epoch', '3'])
})

test.each([
  ['set algorithm=magic', 'expected one of static'],
  ['set epsilon=1.5', 'from 0 to 1'],
  ['set epsilon=-0.1', 'from 0 to 1'],
  ['set epsilon=NaN', 'from 0 to 1'],
  ['set epsilon=', 'from 0 to 1'],
  ['set split=fair', 'equal or usage'],
  ['set collect_rounds=0', 'from 1 to 60'],
  ['set collect_rounds=2.5', 'from 1 to 60'],
  ['set limit.stat=5', 'neither an operation nor a class'],
  ['set limit.open=0', 'op/s from 1'],
  ['set limit.open=1e99', 'op/s from 1'],
  ['set limit.__proto__=5', 'neither an operation nor a class'],
  ['set speed=9', 'cannot be set'],
  ['set', 'nothing to set'],
  ['status --epoch 3', 'only valid with a change'],
  ['policies set --epoch x', 'whole number'],
  ['policies set now', 'unknown command'],
  ['', 'unknown command'],
])('refuses %s', (args, why) => {
  const answer = answerConsole(args.split(' ').filter(Boolean), '', controller())
  expect(answer.code).toBe(2)
  expect(answer.stderr).toContain(why)
})

test('a change that was meant for another epoch is refused', () => {
  const c = controller()
  expect(answerConsole(['set', '--epoch', '2', 'split=usage'], '', c)).toMatchObject({ code: 1 })
  expect(answerConsole(['policies', 'set', '--epoch', '4'], 'x', c)).toMatchObject({ code: 1 })
  expect(c.changes).toEqual([])
  expect(c.text).toBe('1 0 job a meta_op 5\n')
  expect(answerConsole(['set', '--epoch', '3', 'split=usage'], '', c)).toMatchObject({ code: 0 })
  expect(c.changes).toEqual([{ split: 'usage' }])
})

test('a text with a fault is refused with its place and changes nothing', () => {
  const c = controller()
  const answer = answerConsole(['policies', 'set'], 'bad', c)
  expect(answer).toEqual({ stdout: '', stderr: '2:7: error: unknown class\n', code: 1 })
  expect(c.text).toBe('1 0 job a meta_op 5\n')
})

test('the status is one line of ASCII, so that no encoding on the way changes a job id', () => {
  const { stdout } = answerConsole(['status'], '', controller())
  expect(stdout).toMatch(/^[\x20-\x7e]+\n$/)
  expect(JSON.parse(stdout)).toEqual({ job: 'caf\u00c3\u00a9\u2028' })
})

test('a node without a controller says so', () => {
  expect(answerConsole(['status'], '', undefined)).toMatchObject({ stdout: '', code: 1 })
})

test('refuses a number longer than a controller keeps', () => {
  for (const word of [
    `limit.open=5.${'0'.repeat(300)}`,
    `epsilon=0.${'0'.repeat(300)}`,
    `limit.open=${'0'.repeat(300)}5`,
  ]) {
    expect(parseConsole(['set', word]).ok).toBe(false)
  }
})
