/** What each setting is called, on its page, in search and where a change of it is undone. */
import type { SettingName } from './settings-schema.ts'

export const settingTitles: Readonly<Record<SettingName, string>> = {
  ...{ theme: 'Theme', contrast: 'Contrast', density: 'Density', motion: 'Motion', textSize: 'Size of text' },
  ...{ series: 'Colours of series', heat: 'Colours of heat', bytes: 'Units of bytes', clock: 'Clock' },
  ...{ hz: 'Frames a second', windowMs: 'Width of the window at start', startView: 'View at start' },
  safeMode: 'Safe mode of a new cluster',
}
