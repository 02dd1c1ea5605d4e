import fc from 'fast-check'
import { createPinia, setActivePinia } from 'pinia'
import { nextTick } from 'vue'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { catalogue, type CommandId } from './catalogue.ts'
import { coverOf, faultsOf, reservedWhy } from './conflicts.ts'
import { useKeymapStore } from './keymap.ts'
import { capsOf, formatKeys, isClash, isSingleKey, parseKeys } from './keys.ts'

vi.setConfig({ testTimeout: 20_000 })
beforeEach(() => {
  localStorage.clear()
  setActivePinia(createPinia())
})
const entry = (id: CommandId) => catalogue.find((c) => c.id === id)!

describe('key names', () => {
  it('are formatted in the platform\u2019s notation', () => {
    expect([formatKeys('mod+k', 'other'), formatKeys('mod+k', 'mac')]).toEqual(['Ctrl K', '\u2318K'])
    expect([formatKeys('mod+Alt+Shift+e', 'other'), formatKeys('mod+Alt+Shift+e', 'mac')]).toEqual([
      'Ctrl Alt Shift E',
      '\u2325\u21E7\u2318E',
    ])
    expect([formatKeys('s r', 'other'), formatKeys('Shift+ArrowLeft', 'other')]).toEqual(['S R', 'Shift \u2190'])
    expect([capsOf('Escape', 'other'), capsOf('mod++', 'other')]).toEqual([['Esc'], ['Ctrl', '+']])
  })

  it('are parsed from typed text', () => {
    const read = ['Ctrl+K', '\u2318k', 'cmd k', 'shift N', 'G R', 'esc', 'F2', '?', '+', 'ctrl++', 'shift+?']
    expect(read.map(parseKeys)).toEqual([
      'mod+k',
      'mod+k',
      'mod+k',
      'Shift+n',
      'g r',
      'Escape',
      'F2',
      '?',
      '+',
      'mod++',
      '?',
    ])
    for (const text of ['', '  ', 'ctrl', 'F99', 'a b c d', 'constructor', 'ctrl+\u202E', 'x+y+', '<img src=x>'])
      expect([text, parseKeys(text)]).toEqual([text, null])
  })

  it('are unchanged by parsing and formatting', () => {
    const key = fc.constantFrom(...'abcdefgxyz0189?/[],.;', 'Space', 'F1', 'Home', 'ArrowLeft', 'Backspace', '+')
    const press = fc
      .tuple(fc.subarray(['mod+', 'Alt+', 'Shift+']), key)
      .map(([mods, k]) => parseKeys(`${mods.join('')}${k}`))
    fc.assert(
      fc.property(fc.array(press, { minLength: 1, maxLength: 3 }), (presses) => {
        expect(presses).not.toContain(null)
        const keys = presses.join(' ')
        for (const platform of ['mac', 'other'] as const) expect(parseKeys(formatKeys(keys, platform))).toBe(keys)
        expect(parseKeys(keys)).toBe(keys)
      }),
    )
  })
})

describe('the catalogue', () => {
  it('has unique ids, named by scope or group, and valid keys', () => {
    expect(new Set(catalogue.map((c) => c.id)).size).toBe(catalogue.length)
    for (const { id, keys, title, isLocal } of catalogue) {
      expect(id).toMatch(/^[a-z]+\.[a-z0-9-]+$/)
      expect(title.length).toBeGreaterThan(3)
      for (const k of keys.filter((name) => !isLocal || name !== 'Drag')) expect([id, parseKeys(k)]).toEqual([id, k])
    }
  })

  it('has no ambiguous keys within a scope', () => {
    expect([...faultsOf(catalogue, new Map(catalogue.map((c) => [c.id, c.keys])))]).toEqual([])
  })

  it('binds no destructive command to a single key', () => {
    const dangerous = catalogue.filter((c) => c.isDangerous)
    expect(dangerous.map((c) => c.id)).toContain('frame.stop-all')
    expect(dangerous.filter((c) => c.keys.some(isSingleKey))).toEqual([])
    // Finds commands whose title names a destructive action but that are not marked as dangerous.
    const destructive = /^(?:stop|remove|delete|commit|roll back|forget|discard|drop|apply)\b/i
    const destructiveTitles = catalogue.filter((c) => destructive.test(c.title) && !c.isLocal)
    expect(destructiveTitles.filter((c) => !c.isDangerous)).toEqual([])
  })
})

describe('choosing a key', () => {
  it('replaces or adds a key, and stores it', async () => {
    const keymap = useKeymapStore()
    expect(keymap.choose('time.live', 'mod+Shift+l', 'l')).toBeNull()
    expect(keymap.choose('time.live', 'q')).toBeNull()
    expect(keymap.keysOf('time.live')).toEqual(['mod+Shift+l', 'q'])
    await nextTick()
    setActivePinia(createPinia())
    expect(useKeymapStore().keysOf('time.live')).toEqual(['mod+Shift+l', 'q'])
    expect(useKeymapStore().remove('time.live', 'q')).toBeNull()
    expect(useKeymapStore().reset('time.live')).toBeNull()
    expect([useKeymapStore().chosen, useKeymapStore().keysOf('time.live')]).toEqual([{}, ['l']])
  })

  it('is refused if another command has it, which is named, and can be taken or swapped', () => {
    const keymap = useKeymapStore()
    const fault = keymap.choose('time.live', 'c', 'l')
    expect(fault).toMatchObject({ code: 'CONFLICT', other: { id: 'time.pin-a' }, otherKeys: 'c' })
    expect(fault?.why).toContain('Compare: pin A')
    expect([keymap.keysOf('time.live'), keymap.canSwap('time.live', 'c', 'l')]).toEqual([['l'], true])
    expect(keymap.swap('time.live', 'c', 'l')).toBeNull()
    expect([keymap.keysOf('time.live'), keymap.keysOf('time.pin-a')]).toEqual([['c'], ['l']])
    expect(keymap.reset('time.live')).toMatchObject({ code: 'CONFLICT', other: { id: 'time.pin-a' } })
    expect(keymap.take('time.live', 'l', 'c')).toBeNull()
    expect([keymap.keysOf('time.live'), keymap.keysOf('time.pin-a')]).toEqual([['l'], []])
    keymap.resetAll()
    expect(keymap.keysOf('time.pin-a')).toEqual(['c'])
  })

  it('is refused if it is a prefix of a sequence, or the reverse', () => {
    const keymap = useKeymapStore()
    expect(keymap.choose('time.live', 'q r')).toBeNull()
    expect(keymap.choose('time.event-next', 'q')).toMatchObject({ code: 'CONFLICT', other: { id: 'time.live' } })
    expect(keymap.choose('time.event-next', 'c x')).toMatchObject({ code: 'CONFLICT', other: { id: 'time.pin-a' } })
    expect(keymap.choose('time.event-next', 'q e')).toBeNull()
    expect(keymap.choose('time.live', 'q r t')).toMatchObject({ code: 'CONFLICT' })
  })

  it('of a view may cover one of every view, which is said', () => {
    const keymap = useKeymapStore()
    expect(keymap.choose('rules.next', 'c')).toBeNull()
    const { covers } = coverOf(entry('rules.next'), 'c', catalogue, keymap.byId)
    expect(covers.map((c) => c.id)).toEqual(['time.pin-a'])
    const { coveredBy } = coverOf(entry('frame.incident'), 'n', catalogue, keymap.byId)
    expect(coveredBy.map((c) => c.id)).toEqual(['rules.new', 'connections.add'])
    expect(keymap.choose('locks.next', 'Shift+j')).toBeNull()
  })

  it('is refused where it means the same everywhere, or never reaches the window', () => {
    const keymap = useKeymapStore()
    const refused = ['Escape', 'Enter', 'Tab', 'ArrowUp', 'mod+w', 'mod+t', 'mod+q', 'mod+r', 'mod+v', 'q Enter']
    for (const keys of refused) expect([keys, keymap.choose('time.live', keys)?.code]).toEqual([keys, 'RESERVED'])
    expect(keymap.choose('frame.clear', 'q')?.code).toBe('FIXED')
    expect(keymap.remove('frame.clear', 'Escape')?.code).toBe('FIXED')
    expect(keymap.choose('time.live', 'Nonsense')?.code).toBe('UNKNOWN_KEY')
    expect(keymap.chosen).toEqual({})
    // A command's own default key can be chosen again.
    expect([keymap.choose('time.back', 'q', 'ArrowLeft'), keymap.choose('time.back', 'ArrowLeft', 'q')]).toEqual([
      null,
      null,
    ])
  })

  it('of a single key is refused for what takes away or writes', () => {
    const keymap = useKeymapStore()
    for (const keys of ['q', 'F8', 'Shift+q']) expect(keymap.choose('frame.stop-all', keys)?.code).toBe('SINGLE_KEY')
    expect([keymap.choose('frame.stop-all', 'mod+Shift+x'), keymap.choose('frame.stop-all', 'q q')]).toEqual([
      null,
      null,
    ])
  })

  it('keeps at most four keys a command', () => {
    const keymap = useKeymapStore()
    for (const keys of ['q', 'F2', 'F3']) expect(keymap.choose('time.live', keys)).toBeNull()
    expect(keymap.choose('time.live', 'F4')?.code).toBe('TOO_MANY')
    expect(keymap.choose('time.live', 'F4', 'q')).toBeNull()
  })
})

const ids = catalogue.filter((c) => !c.isLocal).map((c) => c.id)
const someKeys = fc.constantFrom(
  ...['c', 'l', 'n', 'q', 's', 's r', 's r x', 'q r', 'q', 'Shift+n', 'mod+k', 'mod+Shift+x', 'j', 'k', 'Enter', 'F2'],
  ...['1', 'ArrowLeft', 'mod+w', 'bad name', 'e', 'r', 'z'],
)
type Change = readonly ['choose' | 'take' | 'swap' | 'remove' | 'reset', CommandId, string]
const change: fc.Arbitrary<Change> = fc.tuple(
  fc.constantFrom('choose', 'take', 'swap', 'remove', 'reset'),
  fc.constantFrom(...ids),
  someKeys,
)
function make(keymap: ReturnType<typeof useKeymapStore>, [verb, id, keys]: Change): void {
  const [first] = keymap.keysOf(id)
  if (verb === 'choose') keymap.choose(id, keys, keys.length > 1 ? (first ?? null) : null)
  else if (verb === 'take') keymap.take(id, keys, first ?? null)
  else if (verb === 'swap') keymap.swap(id, keys, first ?? 'q')
  else if (verb === 'remove') keymap.remove(id, keys)
  else keymap.reset(id)
}

describe('after any sequence of changes', () => {
  it('leaves no conflicts within a scope, and no reserved keys', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        setActivePinia(createPinia())
        const keymap = useKeymapStore()
        keymap.resetAll()
        for (const c of changes) make(keymap, c)
        const pairs = catalogue
          .filter((c) => !c.isLocal)
          .flatMap((c) => keymap.keysOf(c.id).map((keys) => ({ entry: c, keys })))
        for (const [i, a] of pairs.entries()) {
          for (const b of pairs.slice(i + 1))
            if (a.entry.scope === b.entry.scope && isClash(a.keys, b.keys)) expect([a, b]).toEqual([])
          if (a.entry.isDangerous) expect([a.entry.id, isSingleKey(a.keys)]).toEqual([a.entry.id, false])
          if (!a.entry.keys.includes(a.keys)) expect([a.keys, reservedWhy(a.keys)]).toEqual([a.keys, null])
          if (a.entry.isFixed) expect(keymap.keysOf(a.entry.id)).toEqual(a.entry.keys)
        }
      }),
      { numRuns: 25 },
    )
  })

  it('export and import are the same keymap', () => {
    fc.assert(
      fc.property(fc.array(change, { maxLength: 12 }), (changes) => {
        setActivePinia(createPinia())
        const keymap = useKeymapStore()
        keymap.resetAll()
        for (const c of changes) make(keymap, c)
        const before = [...keymap.byId]
        const text = keymap.exportText()
        keymap.resetAll()
        expect(keymap.importText(text)).toMatchObject({ ok: true, unknown: [] })
        expect([...keymap.byId]).toEqual(before)
        expect(keymap.exportText()).toBe(text)
      }),
      { numRuns: 25 },
    )
  })
})

describe('a keymap that is read', () => {
  const text = (keys: object): string => JSON.stringify({ kind: 'sluice-keymap', version: 1, keys })
  it('is imported completely or not at all', () => {
    const keymap = useKeymapStore()
    keymap.choose('time.live', 'q', 'l')
    const refused = [
      '',
      'x',
      '[]',
      '{}',
      '{"kind":"sluice-keymap","version":2,"keys":{}}',
      'x'.repeat(200_000),
      text({ 'time.live': ['c'] }),
      text({ 'time.live': ['mod+w'] }),
      text({ 'frame.stop-all': ['q'] }),
      text({ 'time.live': ['q', 'q r'] }),
      text({ 'frame.clear': [], 'time.live': [''] }),
      text({ 'time.live': 'q' }),
    ]
    for (const bad of refused) expect([bad, keymap.importText(bad).ok]).toEqual([bad, false])
    expect(keymap.chosen).toEqual({ 'time.live': ['q'] })
    expect(keymap.importText(text({ 'time.live': ['c'], 'time.pin-a': ['l'], 'gone.verb': ['u'] }))).toMatchObject({
      ok: true,
      unknown: ['gone.verb'],
    })
    expect([keymap.keysOf('time.live'), keymap.keysOf('time.pin-a')]).toEqual([['c'], ['l']])
  })

  it('keeps its valid part when read from storage', () => {
    const kept = { 'time.live': ['c'], 'time.event-next': ['q'], 'gone.verb': ['u'], 'frame.stop-all': ['w'] }
    localStorage.setItem('sluice.keymap', JSON.stringify(kept))
    const keymap = useKeymapStore()
    expect([keymap.keysOf('time.live'), keymap.keysOf('time.event-next'), keymap.keysOf('frame.stop-all')]).toEqual([
      ['l'],
      ['q'],
      [],
    ])
  })
})
