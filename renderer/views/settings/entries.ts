/** Everything that can be found on the page of settings: the settings themselves, and the facts beside them. */
import { sidebarViews } from '../../commands/views.ts'
import { safeModeWords } from '../connections/card-face.ts'
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
import { byteChoices, clockChoices } from '../../widgets/units.ts'

export const sections = [
  { id: 'look', title: 'Appearance' },
  { id: 'units', title: 'Units and clock' },
  { id: 'behaviour', title: 'Behaviour' },
  { id: 'clusters', title: 'Clusters and SSH' },
  { id: 'keys', title: 'Keys' },
  { id: 'data', title: 'Data and privacy' },
  { id: 'program', title: 'Program' },
] as const
export type SectionId = (typeof sections)[number]['id']

export interface SettingEntry {
  readonly id: string
  readonly title: string
  /** What it does, in a sentence or two. */
  readonly words: string
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
  words: string,
  values: readonly T[],
  label: (value: T) => string = (v) => capital(String(v)),
): ValueEntry => ({ id, title: settingTitles[id], words, section, options: labelled(values, label) })

const palettes = {
  ...{ 'okabe-ito': 'Okabe\u2013Ito', 'tol-muted': 'Tol muted' },
  ...{ cividis: 'Cividis', viridis: 'Viridis', grey: 'Grey' },
} as const
const widths: Readonly<Record<number, string>> = {
  ...{ 60_000: '1 min', 300_000: '5 min', 900_000: '15 min', 3_600_000: '1 h', 21_600_000: '6 h', 86_400_000: 'Day' },
}
const viewTitle = (id: string): string => sidebarViews.find((v) => v.id === id)?.title ?? 'The last one'
const bytesWords = { usual: 'MB/s and MiB', decimal: 'MB/s and MB', binary: 'MiB/s and MiB' } as const

export const valueEntries: readonly ValueEntry[] = [
  entry('theme', 'look', 'Dark, light, or as the system is set.', themes),
  entry(
    'contrast',
    'look',
    'High contrast has tokens of its own for dark and light: text at least 7:1, lines and marks 4.5:1, a wider ring of focus.',
    contrasts,
  ),
  entry('density', 'look', 'Height of rows and controls: 32 px or 24 px a row.', densities),
  entry(
    'textSize',
    'look',
    'Words and figures of tables, panels and menus. Labels of charts keep their size; the zoom of the window makes all of it larger.',
    textSizes,
    (v) => `${v}\u202F%`,
  ),
  entry(
    'series',
    'look',
    'Colours that tell jobs and series apart. Both are safe for colour-blind eyes: Okabe and Ito, or seven of Paul Tol\u2019s muted scheme.',
    seriesPalettes,
    (v) => palettes[v],
  ),
  entry(
    'heat',
    'look',
    'Colours of the heat strip and the week, from low to high. All three rise in lightness, so they print in grey.',
    heatPalettes,
    (v) => palettes[v],
  ),
  entry(
    'motion',
    'look',
    'Drawers, dialogs and hover move for at most 150 ms, values never. Reduced: nothing moves.',
    motions,
  ),
  entry(
    'bytes',
    'units',
    'A kilo is 1000 (MB) or 1024 (MiB), for rates and for sizes. Exports, bundles and commands keep theirs. Requests are always RPC/s.',
    byteChoices,
    (v) => bytesWords[v],
  ),
  entry(
    'clock',
    'units',
    'UTC as the servers write it, or the time zone of this machine. Always 24 hours. Exports and bundles stay UTC, and so do the days of History.',
    clockChoices,
    (v) => (v === 'utc' ? 'UTC' : 'Local'),
  ),
  entry(
    'hz',
    'behaviour',
    'How often a view is redrawn. Sampling of the servers is set for each cluster.',
    rates,
    String,
  ),
  entry(
    'windowMs',
    'behaviour',
    'Width of the time window that a start of the program begins with.',
    startWindows,
    (v) => widths[v] ?? '',
  ),
  entry('startView', 'behaviour', 'What is on screen after a start.', startViews, viewTitle),
  entry(
    'safeMode',
    'clusters',
    'What a cluster that is added may do to its servers until that is changed on its card: nothing, writing after a review, or the same with an unlock.',
    ['read-only', 'review', 'review+unlock'] as const,
    (v) => safeModeWords[v].label,
  ),
]

/** What is no choice: facts, links, and parts with controls of their own. */
export const factEntries: readonly SettingEntry[] = [
  {
    ...{ id: 'alerts', section: 'behaviour', title: 'Rules of alerts' },
    words:
      'When a measure raises an alert, and whether it opens an incident: in the list of alerts, the bell in the title bar.',
  },
  {
    ...{ id: 'ssh', section: 'clusters', title: 'What is read of SSH' },
    words:
      'The configuration, the known hosts and the agent of your own ssh are read and never written. Keys of hosts that were trusted here are kept apart.',
  },
  {
    ...{ id: 'secrets', section: 'clusters', title: 'Kept passphrases' },
    words:
      'Passphrases of key files that the keychain of the system keeps. One that is forgotten is asked for again when its key is used.',
  },
  {
    ...{ id: 'keys', section: 'keys', title: 'Keys of commands' },
    words: 'Shortcuts of the keyboard: every command, its keys, and what they collide with. Keymap.',
  },
  {
    ...{ id: 'retention', section: 'data', title: 'Retention of samples' },
    words: 'How long samples and their means are kept, and the quota of disk: in History, under Store.',
  },
  {
    ...{ id: 'telemetry', section: 'data', title: 'Telemetry' },
    words:
      'None. Nothing leaves this machine but the commands to the servers of your clusters, and the files that you export.',
  },
  {
    ...{ id: 'files', section: 'data', title: 'Where files are' },
    words: 'Folder of the data, history, record of changes, notebooks, bundles and recordings on this machine.',
  },
  {
    ...{ id: 'transfer', section: 'data', title: 'All settings as text' },
    words:
      'Export and import as JSON: every setting and every changed key. Only a text that is valid as a whole is taken over.',
  },
  {
    ...{ id: 'updates', section: 'program', title: 'Updates' },
    words:
      'There are no automatic updates, and no server is asked for one. A new version is installed by whoever installed this one.',
  },
]

/** Where they stand on the page, for the page and for the search over everything. */
export const settingEntries: readonly SettingEntry[] = sections.flatMap(({ id }) =>
  [...valueEntries, ...factEntries].filter(({ section }) => section === id),
)

const isValueEntry = (e: SettingEntry): e is ValueEntry => 'options' in e
export const optionsOf = (e: SettingEntry): readonly SettingOption[] => (isValueEntry(e) ? e.options : [])
/** What of an entry is searched. */
export const searchText = (e: SettingEntry): string =>
  [e.title, e.words, ...optionsOf(e).map((o) => o.label), e.id, sections.find((s) => s.id === e.section)?.title ?? '']
    .join(' ')
    .toLowerCase()
    .replaceAll('\u2013', '-')

export const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean)
/** Entries that hold every word, in the order of the page. */
export function found(query: string): readonly SettingEntry[] {
  const words = wordsOf(query)
  return settingEntries.filter((e) => words.every((word) => searchText(e).includes(word)))
}

/** A text in parts, those that were searched for set off. */
export function marked(text: string, query: string): readonly { readonly text: string; readonly isFound: boolean }[] {
  const words = wordsOf(query)
  if (words.length === 0) return [{ text, isFound: false }]
  const low = text.toLowerCase()
  const on = Array.from({ length: text.length }, () => false)
  for (const word of words)
    for (let at = low.indexOf(word); at >= 0; at = low.indexOf(word, at + word.length))
      on.fill(true, at, at + word.length)
  const parts: { text: string; isFound: boolean }[] = []
  for (let i = 0; i < text.length; i++) {
    const [last, isFound] = [parts.at(-1), on[i] === true]
    if (last !== undefined && last.isFound === isFound) last.text += text[i] ?? ''
    else parts.push({ text: text[i] ?? '', isFound })
  }
  return parts
}
