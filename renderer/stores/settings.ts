/**
 * Settings of this window: appearance and behavior. Kept in the browser's storage; a query string
 * (`?theme=light&hz=10&density=compact`) overrides it for one visit and is not stored.
 */
import { defineStore } from 'pinia'
import { computed, reactive, ref, toRefs, watch } from 'vue'
import { refreshPalette } from '../theme/palette.ts'
import { chooseUnits } from '../format/units.ts'
import { knownSettings, settingDefaults, settingNames, type SettingName, type Settings } from './settings-schema.ts'

export { densities, rates, themes } from './settings-schema.ts'
const KEY = 'sluice.settings'

function stored(): Partial<Settings> {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    return typeof parsed === 'object' && parsed !== null ? knownSettings(parsed as Record<string, unknown>) : {}
  } catch {
    return {} // storage may be off or hold something else: the defaults do
  }
}

function fromQuery(): Partial<Settings> {
  const query = [...new URLSearchParams(location.search)]
  return knownSettings(Object.fromEntries(query.map(([name, text]) => [name, /^\d+$/.test(text) ? +text : text])))
}

/** Preference of the operator's system, current and future. */
function mediaRef(query: string) {
  const media = matchMedia(query)
  const matches = ref(media.matches)
  media.addEventListener('change', (event) => (matches.value = event.matches))
  return matches
}

export const useSettingsStore = defineStore('settings', () => {
  const saved = stored()
  const fromUrl = fromQuery()
  const all = reactive<Settings>({ ...settingDefaults, ...saved, ...fromUrl })

  const systemLight = mediaRef('(prefers-color-scheme: light)')
  const systemContrast = mediaRef('(prefers-contrast: more)')
  const systemStill = mediaRef('(prefers-reduced-motion: reduce)')
  /** The system sets the background colors, so it sets the foreground, too. */
  const hasForcedColours = mediaRef('(forced-colors: active)')
  /** Print is light. */
  const isPrinted = mediaRef('print')
  /** Theme in use, with `system` resolved. */
  const shownTheme = computed(() => {
    if (isPrinted.value) return 'light'
    if (all.theme !== 'system' && !hasForcedColours.value) return all.theme
    return systemLight.value ? 'light' : 'dark'
  })
  const isHighContrast = computed(() => (all.contrast === 'system' ? systemContrast.value : all.contrast === 'high'))
  const isStill = computed(() => (all.motion === 'system' ? systemStill.value : all.motion === 'reduced'))

  watch(
    () => [shownTheme.value, isHighContrast.value, isStill.value, { ...all }, hasForcedColours.value] as const,
    ([theme, isHigh, still]) => {
      const { dataset } = document.documentElement
      dataset['theme'] = theme
      dataset['density'] = all.density
      dataset['motion'] = still ? 'reduced' : 'full'
      dataset['series'] = all.series
      dataset['heat'] = all.heat
      dataset['text'] = String(all.textSize)
      if (isHigh) dataset['contrast'] = 'high'
      else delete dataset['contrast']
      chooseUnits({ bytes: all.bytes, clock: all.clock })
      // Canvas drawing follows the palette, also if only a unit or the text size has changed.
      refreshPalette()
    },
    { immediate: true, flush: 'sync' },
  )
  watch(
    () => ({ ...all }),
    (now, before) => {
      // Values that only the address set are not stored, unless they are chosen here.
      for (const name of settingNames) if (now[name] !== before[name]) delete fromUrl[name]
      try {
        const own = Object.fromEntries(
          settingNames.map((name) => [name, name in fromUrl ? (saved[name] ?? settingDefaults[name]) : now[name]]),
        )
        Object.assign(saved, own)
        localStorage.setItem(KEY, JSON.stringify(own))
      } catch {
        // storage may be full or off: the choice then lasts for this visit
      }
    },
  )

  function set(patch: Partial<Settings>): void {
    Object.assign(all, patch)
  }
  const reset = (name: SettingName): void => set({ [name]: settingDefaults[name] })
  const resetAll = (): void => set(settingDefaults)
  const isDefault = (name: SettingName): boolean => all[name] === settingDefaults[name]
  const toggleTheme = (): void => {
    all.theme = shownTheme.value === 'dark' ? 'light' : 'dark'
  }
  return {
    ...toRefs(all),
    all,
    shownTheme,
    isHighContrast,
    isStill,
    set,
    reset,
    resetAll,
    isDefault,
    toggleTheme,
  }
})
