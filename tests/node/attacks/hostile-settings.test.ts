/** Settings or keymaps from another user, to be imported: read as data, completely or not at all. */
import { describe, expect, it } from 'vitest'
import { importKeymap } from '../../../renderer/commands/keymap-text.ts'
import { readSettings } from '../../../renderer/stores/settings-text.ts'

const settings = (inner: string): string => `{"sluice":"settings","version":1,${inner}}`
const keymap = (inner: string): string => `{"kind":"sluice-keymap","version":1,"keys":${inner}}`

describe('a text that reaches for what every object has', () => {
  it.each([
    settings('"settings":{"__proto__":{"polluted":1}}'),
    settings('"settings":{"constructor":{"prototype":{"polluted":1}}}'),
    settings('"__proto__":{"polluted":1}'),
    settings(`"settings":{},"keys":${keymap('{"__proto__":["mod+k"]}')}`),
    keymap('{"__proto__":["mod+k"],"constructor":["mod+j"],"toString":["mod+i"]}'),
  ])('%s changes nothing of it', (text) => {
    for (const read of [readSettings(text), importKeymap(text)]) {
      if (!read.ok) continue
      const taken = 'value' in read ? { ...read.value.settings, ...read.value.keys } : read.chosen
      expect(Object.keys(taken)).toEqual([])
    }
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain('polluted')
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

it('keys that are no keys, or too many, are refused', () => {
  for (const keys of ['constructor', 'constructor+k', '__proto__+k', '\u202e', 'a b c d e', ' ', 'mod+\u0000']) {
    expect(importKeymap(keymap(JSON.stringify({ 'frame.palette': [keys] }))), keys).toMatchObject({ ok: false })
  }
  const many = Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => [`x${i}`, []]))
  expect(importKeymap(keymap(JSON.stringify(many))).ok).toBe(false)
  expect(readSettings('['.repeat(90_000)).ok).toBe(false)
  expect(readSettings(settings(`"settings":${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`)).ok).toBe(false)
})
