import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { RuleFault } from '#core/api/rule-edits.ts'
import { carryFaults, faultText, pieces } from './fault-places.ts'

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

it('cuts the text at its faults without losing a character', () => {
  expect(pieces(TEXT, [fault(AT, 9)]).map((p) => p.text)).toEqual([TEXT.slice(0, AT), 'ost_wirte', TEXT.slice(AT + 9)])
  expect(pieces('start a', [fault(7, 0)])).toEqual([
    { text: 'start a', fault: null },
    { text: '', fault: fault(7, 0) },
  ])
  const anywhere = fc.record({ at: fc.nat(20), length: fc.nat(9) })
  fc.assert(
    fc.property(fc.string({ maxLength: 16 }), fc.array(anywhere, { maxLength: 4 }), (text, list) => {
      const cut = pieces(
        text,
        list.map((p) => fault(p.at, p.length)),
      )
      expect(cut.map((p) => p.text).join('')).toBe(text)
    }),
  )
})

it('carries a fault along while something else is typed, and drops it when it is typed in', () => {
  const longer = TEXT.replace('hog4690', 'hog46901')
  expect(carryFaults([fault(AT, 9)], TEXT, longer)).toEqual([fault(AT + 1, 9)])
  expect(carryFaults([fault(AT, 9)], TEXT, `${TEXT}1`)).toEqual([fault(AT, 9)])
  expect(carryFaults([fault(AT, 9)], TEXT, TEXT.replace('ost_wirte', 'ost_write'))).toEqual([])
})
