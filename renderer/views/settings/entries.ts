/** Entries of the settings page: settings, and facts and links beside them. */
import { sidebarViews } from '../../commands/views.ts'
import { safeModeLabels } from '../connections/card-model.ts'
import { settingTitles } from '../../stores/setting-titles.ts'
import {
  contrasts,
  densities,
  heatPalettes,
  motions,
  rates,
  seriesPalettes,
  startViews,
  startWindows,
  textSizes,
  themes,
  type SettingName,
  type Settings,
} from '../../stores/settings-schema.ts'
import { byteChoices, clockChoices } from '../../format/units.ts'

export const sections = [
  { id: 'look', title: 'Appearance' },
  { id: 'units', title: 'Units and clock' },
  { id: 'behaviour', title: 'Behavior' },
  { id: 'clusters', title: 'Clusters and SSH' },
  { id: 'keys', title: 'Keyboard' },
  { id: 'data', title: 'Data and privacy' },
  { id: 'program', title: 'Application' },
] as const
export type SectionId = (typeof sections)[number]['id']

export interface SettingEntry {
  readonly id: string
  readonly title: string
  /** Description in one or two sentences. */
  readonly description: string
  readonly section: SectionId
}
export type SettingValue = Settings[SettingName]
export interface SettingOption {
  readonly value: SettingValue
  readonly label: string
}
/** A setting with its values; facts and links have none. */
export interface ValueEntry extends SettingEntry {
  readonly id: SettingName
  readonly options: readonly SettingOption[]
}

const labelled = <T extends SettingValue>(values: readonly T[], label: (value: T) => string): SettingOption[] =>
  values.map((value) => ({ value, label: label(value) }))
const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1)
const entry = <T extends SettingValue>(
  id: SettingName,
  section: SectionId,
  description: string,
  values: readonly T[],
  label: (value: T) => string = (v) => capital(String(v)),
): ValueEntry => ({ id, title: settingTitles[id], description, section, options: labelled(values, label) })

const palettes = {
  'okabe-ito': 'Okabe\u2013Ito',
  'tol-muted': 'Tol muted',
  cividis: 'Cividis',
  viridis: 'Viridis',
  grey: 'Gray',
} as const
const widths: Readonly<Record<number, string>> = {
  60_000: '1 min',
  300_000: '5 min',
  900_000: '15 min',
  3_600_000: '1 h',
  21_600_000: '6 h',
  86_400_000: 'Day',
}
const viewTitle = (id: string): string => sidebarViews.find((v) => v.id === id)?.title ?? 'Last view'
const bytesLabels = { usual: 'MB/s and MiB', decimal: 'MB/s and MB', binary: 'MiB/s and MiB' } as const

export const valueEntries: readonly ValueEntry[] = [
  entry('theme', 'look', 'Dark, light, or as set in the system.', themes),
  entry(
    'contrast',
    'look',
    'High contrast, for dark and light: text at least 7:1, lines and marks 4.5:1, a wider focus ring.',
    contrasts,
  ),
  entry('density', 'look', 'Height of rows and controls: 32 px or 24 px per row.', densities),
  entry(
    'textSize',
    'look',
    'Text in tables, panels and menus. Chart labels keep their size; the window zoom scales everything.',
    textSizes,
    (v) => `${v}\u202F%`,
  ),
  entry(
    'series',
    'look',
    'Colors of jobs and series. Both palettes are color-blind safe: Okabe and Ito, or seven of Paul Tol\u2019s muted scheme.',
    seriesPalettes,
    (v) => palettes[v],
  ),
  entry(
    'heat',
    'look',
    'Colors of the target strip and the week heatmap, from low to high. All three rise in lightness, so they print in gray.',
    heatPalettes,
    (v) => palettes[v],
  ),
  entry(
    'motion',
    'look',
    'Drawers, dialogs and hover effects take at most 150 ms; values are never animated. Reduced: no animation.',
    motions,
  ),
  entry(
    'bytes',
    'units',
    'Powers of 1000 (MB) or 1024 (MiB), for rates and sizes. Exports, bundles and commands are not affected. Requests are always RPC/s.',
    byteChoices,
    (v) => bytesLabels[v],
  ),
  entry(
    'clock',
    'units',
    'UTC as on the servers, or the time zone of this machine. Always 24 hours. Exports, bundles and the days of History stay UTC.',
    clockChoices,
    (v) => (v === 'utc' ? 'UTC' : 'Local'),
  ),
  entry('hz', 'behaviour', 'Redraws of a view per second. Sampling is set per cluster.', rates, String),
  entry(
    'windowMs',
    'behaviour',
    'Width of the time window after the application starts.',
    startWindows,
    (v) => widths[v] ?? '',
  ),
  entry('startView', 'behaviour', 'View that opens after a start.', startViews, viewTitle),
  entry(
    'safeMode',
    'clusters',
    'Write access of a new cluster, until it is changed on its card: none, after a review, or after a review with an unlock.',
    ['read-only', 'review', 'review+unlock'] as const,
    (v) => safeModeLabels[v].label,
  ),
]

/** Entries without options: facts, links, and parts with controls of their own. */
export const factEntries: readonly SettingEntry[] = [
  {
    id: 'alerts',
    section: 'behaviour',
    title: 'Alert rules',
    description:
      'Thresholds of alerts, and whether an alert opens an incident. Also in the alert list (bell in the title bar).',
  },
  {
    id: 'ssh',
    section: 'clusters',
    title: 'SSH files in use',
    description:
      'Your ssh configuration, known hosts and agent are read and never written. Host keys trusted in Sluice are stored separately.',
  },
  {
    id: 'secrets',
    section: 'clusters',
    title: 'Stored passphrases',
    description:
      'Passphrases of key files in the system keychain. After one is forgotten, Sluice asks for it when its key is used again.',
  },
  {
    id: 'keys',
    section: 'keys',
    title: 'Keyboard shortcuts',
    description: 'All commands with their keys; conflicts are shown.',
  },
  {
    id: 'retention',
    section: 'data',
    title: 'Sample retention',
    description: 'Retention time of samples and their means, and the disk quota: in History, under Local store.',
  },
  {
    id: 'telemetry',
    section: 'data',
    title: 'Telemetry',
    description:
      'None. Only commands to the servers of your clusters and the files that you export leave this machine.',
  },
  {
    id: 'files',
    section: 'data',
    title: 'File locations',
    description: 'Folders of data, history, audit log, notebooks, bundles and recordings on this machine.',
  },
  {
    id: 'transfer',
    section: 'data',
    title: 'All settings as text',
    description:
      'Export and import as JSON: every setting and every changed key. Text is applied only if all of it is valid.',
  },
  {
    id: 'updates',
    section: 'program',
    title: 'Updates',
    description: 'No automatic updates, and no update checks. New versions are installed the same way as this one.',
  },
]

/** All entries in page order, for the page and for the global search. */
export const settingEntries: readonly SettingEntry[] = sections.flatMap(({ id }) =>
  [...valueEntries, ...factEntries].filter(({ section }) => section === id),
)

const isValueEntry = (e: SettingEntry): e is ValueEntry => 'options' in e
export const optionsOf = (e: SettingEntry): readonly SettingOption[] => (isValueEntry(e) ? e.options : [])
/** Returns the text of an entry that a search matches. */
export const searchText = (e: SettingEntry): string =>
  [
    e.title,
    e.description,
    ...optionsOf(e).map((o) => o.label),
    e.id,
    sections.find((s) => s.id === e.section)?.title ?? '',
  ]
    .join(' ')
    .toLowerCase()
    .replaceAll('\u2013', '-')

export const termsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean)
/** Returns the entries that contain every word, in page order. */
export function found(query: string): readonly SettingEntry[] {
  const terms = termsOf(query)
  return settingEntries.filter((e) => terms.every((term) => searchText(e).includes(term)))
}

/** Splits a text into parts, matches of the query marked. */
export function marked(text: string, query: string): readonly { readonly text: string; readonly isFound: boolean }[] {
  const terms = termsOf(query)
  if (terms.length === 0) return [{ text, isFound: false }]
  const low = text.toLowerCase()
  const on = Array.from({ length: text.length }, () => false)
  for (const term of terms)
    for (let at = low.indexOf(term); at >= 0; at = low.indexOf(term, at + term.length))
      on.fill(true, at, at + term.length)
  const parts: { text: string; isFound: boolean }[] = []
  for (let i = 0; i < text.length; i++) {
    const last = parts.at(-1)
    const isFound = on[i] === true
    if (last !== undefined && last.isFound === isFound) last.text += text[i] ?? ''
    else parts.push({ text: text[i] ?? '', isFound })
  }
  return parts
}
