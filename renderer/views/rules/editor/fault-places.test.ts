import { expect, it } from 'vitest'
import type { RuleFault } from '#core/api/rule-edits.ts'
import { carryFaults, faultText } from './fault-places.ts'

const fault = (at: number, length: number): RuleFault => ({
  at,
  length,
  message: 'unknown opcode',
  errno: 'EINVAL',
  field: 'conditions',
})
const TEXT = 'start hog4690 jobid={4690.*}&opcode={ost_wirte} rate=400'
const AT = TEXT.indexOf('ost_wirte')

it('counts columns from 1 in the value', () => {
  expect(faultText(fault(AT, 9))).toBe('column 38: unknown opcode')
})

it('carries a fault along while something else is typed, and drops it when it is typed in', () => {
  const longer = TEXT.replace('hog4690', 'hog46901')
  expect(carryFaults([fault(AT, 9)], TEXT, longer)).toEqual([fault(AT + 1, 9)])
  expect(carryFaults([fault(AT, 9)], TEXT, `${TEXT}1`)).toEqual([fault(AT, 9)])
  expect(carryFaults([fault(AT, 9)], TEXT, TEXT.replace('ost_wirte', 'ost_write'))).toEqual([])
})
