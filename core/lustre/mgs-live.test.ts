import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '#tests/any-character.ts'
import { parseMgsLive } from './mgs-live.ts'

describe('mgs.MGS.live', () => {
  it('has the targets of one file system up to the first blank line', () => {
    const text =
      'fsname: testfs\nflags: 0x20     gen: 15\ntestfs-MDT0000\ntestfs-OST000a\n\nSecure RPC Config Rules:\n\n' +
      'imperative_recovery_state:\n    state: full\n    nidtbl_version: 5\ntestfs-OST00ff\n'
    expect(parseMgsLive(text)).toEqual({ fsname: 'testfs', targets: ['testfs-MDT0000', 'testfs-OST000a'], skipped: 0 })
    expect(parseMgsLive(`\n${text}`)?.targets).toHaveLength(2)
  })

  it('of parameters and of any other text is nothing', () => {
    expect(parseMgsLive('fsname: params\nflags: 0x21     gen: 2\n\n')).toEqual({
      fsname: 'params',
      targets: [],
      skipped: 0,
    })
    for (const text of ['', '\n', 'flags: 0x20', 'fsname: ../../x\n', 'fsname: toolongname\nx']) {
      expect(parseMgsLive(text)).toBeUndefined()
    }
  })

  it('counts lines that are no target of it', () => {
    const text = 'fsname: a\nflags: 0x20 gen: 1\nb-OST0000\na-OST00000\na-OST0001 \na-OST0000\na-OSTzzzz\n'
    expect(parseMgsLive(text)).toEqual({ fsname: 'a', targets: ['a-OST0000'], skipped: 4 })
  })

  it('takes any text, and names nothing but targets', () => {
    const part = fc.constantFrom('fsname: a\n', 'a-OST0000\n', 'flags: x\n', '\n', 'a-MDT0000', ' ', '\x00')
    fc.assert(
      fc.property(fc.array(fc.oneof(part, fc.string({ unit: anyCharacter })), { maxLength: 20 }), (parts) => {
        for (const target of parseMgsLive(parts.join(''))?.targets ?? []) expect(target).toMatch(/^a-(OST|MDT)0000$/)
      }),
    )
  })
})
