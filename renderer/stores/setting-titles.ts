/** Titles of settings: on their page, in search, and in the undo list. */
import type { SettingName } from './settings-schema.ts'

export const settingTitles: Readonly<Record<SettingName, string>> = {
  theme: 'Theme',
  contrast: 'Contrast',
  density: 'Density',
  motion: 'Motion',
  textSize: 'Text size',
  series: 'Series palette',
  heat: 'Heatmap palette',
  bytes: 'Byte units',
  clock: 'Clock',
  hz: 'Redraws per second',
  windowMs: 'Initial window',
  startView: 'Start view',
  safeMode: 'Safe mode of new clusters',
}
