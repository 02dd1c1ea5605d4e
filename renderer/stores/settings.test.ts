import { createPinia, setActivePinia } from 'pinia'
import { nextTick } from 'vue'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { catalogue } from '../commands/catalogue.ts'
import { exportKeymap } from '../commands/keymap-text.ts'
import { formatBytes, formatClock, formatRate, zoneText } from '../format/units.ts'
import { settingDefaults } from './settings-schema.ts'
import { readSettings, writeSettings } from './settings-text.ts'
import { useSettingsStore } from './settings.ts'

const KEY = 'sluice.settings'
let asks: ReadonlySet<string> = new Set()
beforeEach(() => {
  localStorage.clear()
  asks = new Set()
  vi.stubGlobal('matchMedia', (query: string) => Object.assign(new EventTarget(), { matches: asks.has(query) }))
  setActivePinia(createPinia())
})
afterEach(() => {
  useSettingsStore().resetAll()
  vi.unstubAllGlobals()
})
const root = (): DOMStringMap => document.documentElement.dataset

describe('settings', () => {
  it('are stored, and invalid stored values are dropped', async () => {
    useSettingsStore().set({ theme: 'light', bytes: 'binary', textSize: 110 })
    await nextTick()
    expect(JSON.parse(localStorage.getItem(KEY) ?? '')).toMatchObject({
      theme: 'light',
      bytes: 'binary',
      textSize: 110,
    })
    localStorage.setItem(KEY, '{"theme":"pink","density":"comfy","hz":"fast","textSize":110,"old":1}')
    setActivePinia(createPinia())
    expect(useSettingsStore().all).toEqual({ ...settingDefaults, density: 'comfy', textSize: 110 })
    for (const broken of ['', '[]', 'null', '{', '7']) {
      localStorage.setItem(KEY, broken)
      setActivePinia(createPinia())
      expect(useSettingsStore().all).toEqual(settingDefaults)
    }
  })
  it('follow the system in theme, contrast and motion, if set so', () => {
    asks = new Set(['(prefers-color-scheme: light)', '(prefers-contrast: more)', '(prefers-reduced-motion: reduce)'])
    const settings = useSettingsStore()
    settings.theme = 'system'
    expect([root()['theme'], root()['contrast'], root()['motion']]).toEqual(['light', 'high', 'reduced'])
    settings.set({ theme: 'dark', contrast: 'normal', motion: 'full' })
    expect([root()['theme'], root()['contrast'], root()['motion']]).toEqual(['dark', undefined, 'full'])
  })
  it('are reset one by one and all at once', () => {
    const settings = useSettingsStore()
    settings.set({ heat: 'grey', series: 'tol-muted' })
    expect([root()['heat'], root()['series']]).toEqual(['grey', 'tol-muted'])
    settings.reset('heat')
    expect([settings.isDefault('heat'), settings.isDefault('series')]).toEqual([true, false])
    settings.resetAll()
    expect(settings.all).toEqual(settingDefaults)
  })
  it('change units and clock on screen at once', () => {
    const settings = useSettingsStore()
    const rate = (): string => `${formatRate(52_428_800).text} ${formatRate(52_428_800).unit}`
    const shown = (): string[] => [rate(), formatBytes(4_000_000)]
    expect(shown()).toEqual(['52.4 MB/s', '3.8 MiB'])
    settings.bytes = 'binary'
    expect(shown()).toEqual(['50.0 MiB/s', '3.8 MiB'])
    settings.bytes = 'decimal'
    expect(shown()).toEqual(['52.4 MB/s', '4 MB'])

    const at = Date.UTC(2026, 10, 19, 23, 30)
    vi.spyOn(Date.prototype, 'getTimezoneOffset').mockReturnValue(-330)
    expect([formatClock(at, false), zoneText(at)]).toEqual(['23:30', 'UTC'])
    settings.clock = 'local'
    expect([formatClock(at, false), zoneText(at)]).toEqual(['05:00', 'UTC+5:30'])
    vi.restoreAllMocks()
  })
})

describe('all settings as a text', () => {
  const fault = (text: string) => {
    const read = readSettings(text)
    return read.ok ? null : read.error
  }
  it('are unchanged by export and import, including keys', () => {
    const settings = { ...settingDefaults, theme: 'light' as const }
    const keys = { 'frame.settings': ['Alt+s'] }
    const read = readSettings(writeSettings(settings, exportKeymap(keys)))
    expect(read).toEqual({ ok: true, value: { settings, keys } })
    expect(catalogue.some((c) => c.id === 'frame.settings')).toBe(true)
  })
  it('may be partial: the rest is not changed', () => {
    const text = '{"sluice":"settings","version":1,"settings":{"density":"comfy"}}'
    expect(readSettings(text)).toEqual({ ok: true, value: { settings: { density: 'comfy' }, keys: undefined } })
  })
  it('of a newer version are refused as such', () => {
    expect(fault('{"sluice":"settings","version":2,"settings":{"new":1}}')).toMatchObject({
      code: 'SETTINGS_NEWER',
      why: 'it has format 2; this version reads up to 1',
      unaffected: 'current settings',
    })
  })
  it.each([
    ['SETTINGS_JSON', '{"sluice":'],
    ['SETTINGS_OTHER', '[]'],
    ['SETTINGS_OTHER', '{"kind":"sluice-keymap","version":1,"keys":{}}'],
    ['SETTINGS_FAULTY', '{"sluice":"settings","version":1,"settings":{"theme":"pink"}}'],
    ['SETTINGS_FAULTY', '{"sluice":"settings","version":1,"settings":{"colour":"pink"}}'],
    ['SETTINGS_KEYS', '{"sluice":"settings","version":1,"settings":{},"keys":{"x":1}}'],
    ['SETTINGS_LONG', ' '.repeat(200_000)],
  ])('that are no settings are refused: %s', (code, text) => {
    expect(fault(text)?.code).toBe(code)
  })
  it('report the path of a fault', () => {
    expect(fault('{"sluice":"settings","version":1,"settings":{"hz":3}}')?.why).toContain('settings.hz')
    expect(fault('{"sluice":"settings","version":1,"settings":{"colour":1}}')?.why).toContain('colour')
  })
})
