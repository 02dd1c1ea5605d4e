import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ART, artOf, bodyOf, compare, groupsOf, LENGTH } from './fingerprint.ts'

const PRINT = 'SHA256:IocA7kCDzQu9uWzzxraFQVwbWvVhdX/x8OHQ7SV6OgI'
const BODY = PRINT.slice(7)
/** Output of `ssh-keygen -lv` for that key, without the frame. */
const DRAWN = [
  'o*    +.. o...+o.',
  '=.=. + o o . .+=*',
  '.o.++ .   .  . +*',
  'o +o .  E   . . o',
  ' o .+ o S.   o   ',
  '  =  = .  . o    ',
  ' . +. .    . .   ',
  '    =.           ',
  '   o..           ',
]

describe('the picture', () => {
  it('is the one that ssh-keygen draws', () => {
    const art = artOf(PRINT)
    if (art === null) throw new Error('no art')
    const letters = ' .o+=*BOX@%&#/^'
    const rows = Array.from({ length: ART.rows }, (_, y) =>
      Array.from({ length: ART.columns }, (_, x) => {
        const at = y * ART.columns + x
        if (at === art.start) return 'S'
        return at === art.end ? 'E' : (letters[Math.min(art.visits[at] ?? 0, letters.length - 1)] ?? '?')
      }).join(''),
    )
    expect(rows).toEqual(DRAWN)
  })
  it('is null without a valid fingerprint', () => {
    for (const text of ['', 'SHA256:', 'MD5:00:11', `${PRINT}x`, `SHA256:<img src=x onerror=1>${BODY.slice(22)}`])
      expect(artOf(text)).toBeNull()
  })
})

it('stands in groups of four that give all of it', () => {
  expect(groupsOf(PRINT)).toHaveLength(3)
  expect(groupsOf(PRINT).flat().join('')).toBe(BODY)
})

describe('comparing', () => {
  it('counts equal characters from the first on, and is equal only at the end', () => {
    expect(compare(PRINT, '')).toMatchObject({ state: 'empty', equal: 0 })
    expect(compare(PRINT, PRINT.slice(0, 7 + 28))).toMatchObject({ state: 'partial', summary: '28 of 43 equal' })
    for (const same of [
      PRINT,
      BODY,
      ` ${PRINT}= `,
      `256 ${PRINT} root@oss01 (ED25519)`,
      groupsOf(PRINT).flat().join(' '),
    ])
      expect(compare(PRINT, same)).toMatchObject({ state: 'equal', equal: LENGTH })
  })
  it('of several fingerprints takes the best match', () => {
    const other = `SHA256:${'A'.repeat(43)}`
    expect(compare(PRINT, `${other} a\n${PRINT} b`).state).toBe('equal')
    expect(compare(PRINT, `${other} a\n${other} b`)).toMatchObject({ state: 'different', equal: 0 })
  })
  it('refuses MD5, another letter case, and one character more', () => {
    expect(compare(PRINT, 'MD5:16:27:ac:a5:76:28:2d:36:63:1b:56:4d:eb:df:a6:48').state).toBe('not-one')
    expect(compare(PRINT, PRINT.toLowerCase()).state).not.toBe('equal')
    expect(compare(PRINT, `${PRINT}A`).state).not.toBe('equal')
  })
  it('is equal for no text but the whole fingerprint', () => {
    const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/')
    fc.assert(
      fc.property(fc.nat(LENGTH - 1), character, fc.boolean(), (at, c, isCut) => {
        const changed = isCut ? BODY.slice(0, at) : BODY.slice(0, at) + c + BODY.slice(at + 1)
        const result = compare(PRINT, changed)
        expect(result.state === 'equal').toBe(changed === BODY)
        expect(result.equal).toBeGreaterThanOrEqual(Math.min(at, changed.length))
      }),
    )
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (!text.includes(BODY)) expect(compare(PRINT, text).state).not.toBe('equal')
      }),
    )
  })
  it('compares nothing if the shown key has no valid fingerprint', () => {
    expect(compare('<b>', '<b>').state).toBe('empty')
    expect(bodyOf('SHA256:x')).toBeNull()
  })
})
