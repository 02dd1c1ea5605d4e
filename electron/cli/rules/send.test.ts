import { describe, expect, it } from 'vitest'
import type { NodeEnd } from '#core/api/rule-edits.ts'
import { sentText } from './send.ts'

const ends = (...states: NodeEnd['state'][]): NodeEnd[] =>
  states.map((state, i) => ({ host: `oss0${i}`, state, detail: '' }))

describe('what a change that was sent came to, in words', () => {
  it('offers a revert where anything of it may stand, and none where nothing does', () => {
    const offers = (...states: NodeEnd['state'][]): boolean => sentText('1a2b', ends(...states)).includes('revert 1a2b')
    expect([offers('done'), offers('rolled back', 'unknown'), offers('failed', 'not sent')]).toEqual([true, true, true])
    expect([offers('rolled back', 'not sent'), offers('rolled back')]).toEqual([false, false])
  })
})
