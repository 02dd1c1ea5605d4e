/**
 * What this window looks like and how often it is redrawn. Kept in the browser's storage; a query string
 * (`?theme=light&hz=10&density=compact`) wins over it for one visit and is not kept.
 */
import { defineStore } from 'pinia'
import { computed, ref, watch } from 'vue'
import { refreshPalette } from '../theme/palette.ts'

export const themes = ['dark', 'light', 'system'] as const
export const densities = ['comfy', 'compact'] as const
export const rates = [1, 2, 5, 10] as const
const KEY = 'sluice.settings'

interface Kept {
  theme: (typeof themes)[number]
  contrast: 'normal' | 'high'
  density: (typeof densities)[number]
  hz: (typeof rates)[number]
}

const oneOf = <T>(values: readonly T[], value: unknown): T | undefined =>
  values.find((v) => String(v) === String(value))

function choose(from: (name: string) => unknown): Partial<Kept> {
  const kept: Partial<Kept> = {}
  const [theme, density, hz] = [
    oneOf(themes, from('theme')),
    oneOf(densities, from('density')),
    oneOf(rates, from('hz')),
  ]
  const contrast = oneOf(['normal', 'high'] as const, from('contrast'))
  if (theme) kept.theme = theme
  if (contrast) kept.contrast = contrast
  if (density) kept.density = density
  if (hz) kept.hz = hz
  return kept
}

function stored(): Partial<Kept> {
  try {
    const parsed: unknown = JSON.parse(localStorage.getItem(KEY) ?? '{}')
    const record = typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {}
    return choose((name) => record[name])
  } catch {
    return {} // storage may be off or hold something else: the defaults do
  }
}

export const useSettingsStore = defineStore('settings', () => {
  const query = new URLSearchParams(location.search)
  const start: Kept = {
    ...{ theme: 'dark', contrast: 'normal', density: 'compact', hz: 2 },
    ...stored(),
    ...choose((name) => query.get(name)),
  }
  const theme = ref(start.theme)
  const contrast = ref(start.contrast)
  const density = ref(start.density)
  /** Frames a second asked of the host. */
  const hz = ref(start.hz)

  const media = matchMedia('(prefers-color-scheme: light)')
  const systemLight = ref(media.matches)
  media.addEventListener('change', (event) => (systemLight.value = event.matches))
  /** What is on screen once `system` is resolved. */
  const shownTheme = computed(() => (theme.value === 'system' ? (systemLight.value ? 'light' : 'dark') : theme.value))

  watch(
    [shownTheme, contrast, density],
    () => {
      const { dataset } = document.documentElement
      dataset['theme'] = shownTheme.value
      dataset['density'] = density.value
      if (contrast.value === 'high') dataset['contrast'] = 'high'
      else delete dataset['contrast']
      refreshPalette()
    },
    { immediate: true, flush: 'sync' },
  )
  watch([theme, contrast, density, hz], () => {
    try {
      const kept: Kept = { theme: theme.value, contrast: contrast.value, density: density.value, hz: hz.value }
      localStorage.setItem(KEY, JSON.stringify(kept))
    } catch {
      // storage may be full or off: the choice then lasts for this visit
    }
  })

  const toggleTheme = (): void => {
    theme.value = shownTheme.value === 'dark' ? 'light' : 'dark'
  }
  return { theme, contrast, density, hz, shownTheme, toggleTheme }
})
