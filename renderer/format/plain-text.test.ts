import { expect, it } from 'vitest'
import { maskedText, plainLines, plainText } from './plain-text.ts'

it('names what cannot be seen and leaves the rest alone', () => {
  expect(plainText('4690.python.u1021 <b>é</b>')).toBe('4690.python.u1021 <b>é</b>')
  expect(plainText('a\nb\tc\u001B[31m')).toBe('a\u240Ab\u2409c\u241B[31m')
  expect(plainText('safe\u202Egnp.exe')).toBe('safe\u2039202E\u203Agnp.exe')
  expect(plainText('ho\u200Bg\u0085')).toBe('ho\u2039200B\u203Ag\u20390085\u203A')
})

it('keeps the lines of an answer', () => {
  expect(plainLines('CPT 0:\na\tb\u0007\r\n')).toBe('CPT 0:\na\tb\u2407\u240D\n')
})

it('keeps every column where text is edited', () => {
  expect(maskedText('a\u202Eb\u200Bc\td')).toBe('a\uFFFDb\uFFFDc\uFFFDd')
})
