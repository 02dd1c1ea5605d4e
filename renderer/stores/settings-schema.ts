/** Schema of the window's settings with their defaults, for storage and for export. */
import { sidebarViews } from '../commands/views.ts'
import * as z from 'zod'
import { safeMode } from '#core/api/clusters.ts'
import { byteChoices, clockChoices } from '../format/units.ts'

export const themes = ['dark', 'light', 'system'] as const
export const contrasts = ['normal', 'high', 'system'] as const
export const densities = ['comfy', 'compact'] as const
export const motions = ['system', 'full', 'reduced'] as const
/** Text size, percent of the default. */
export const textSizes = [90, 100, 110, 125] as const
export const seriesPalettes = ['okabe-ito', 'tol-muted'] as const
export const heatPalettes = ['cividis', 'viridis', 'grey'] as const
/** Update rates, frames per second. */
export const rates = [1, 2, 5, 10] as const
/** Selectable initial windows, ms. */
export const startWindows = [60_000, 300_000, 900_000, 3_600_000, 21_600_000, 86_400_000] as const
/** Start view; last: the one shown when the window was closed. */
export const startViews: readonly string[] = ['last', ...sidebarViews.map((v) => v.id)]

export const settingsShape = {
  theme: z.enum(themes),
  contrast: z.enum(contrasts),
  density: z.enum(densities),
  motion: z.enum(motions),
  textSize: z.literal(textSizes),
  series: z.enum(seriesPalettes),
  heat: z.enum(heatPalettes),
  bytes: z.enum(byteChoices),
  clock: z.enum(clockChoices),
  hz: z.literal(rates),
  windowMs: z.literal(startWindows),
  startView: z.string().refine((v) => startViews.includes(v), 'unknown view'),
  /** Safe mode of new clusters. */
  safeMode,
} as const
export const settingsObject = z.strictObject(settingsShape)
export type Settings = z.infer<typeof settingsObject>
export type SettingName = keyof Settings

export const settingDefaults: Settings = {
  theme: 'dark',
  contrast: 'system',
  density: 'compact',
  motion: 'system',
  textSize: 100,
  series: 'okabe-ito',
  heat: 'cividis',
  bytes: 'usual',
  clock: 'utc',
  hz: 2,
  windowMs: 300_000,
  startView: 'overview',
  safeMode: 'read-only',
}
export const settingNames = Object.keys(settingsShape) as SettingName[]

/** Valid settings in `from`; anything else is dropped. */
export function knownSettings(from: Readonly<Record<string, unknown>>): Partial<Settings> {
  const known: Partial<Record<SettingName, unknown>> = {}
  for (const name of settingNames) {
    const read = settingsShape[name].safeParse(from[name])
    if (read.success) known[name] = read.data
  }
  return known as Partial<Settings>
}
