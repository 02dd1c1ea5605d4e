/** Key presses as text: stored names (`mod+k`, `Shift+n`, `s r`), and their notation on each platform (Ctrl K, ⌘K). */

export type Platform = 'mac' | 'other'
/** Longest sequence, presses. */
export const PRESSES_MOST = 3

const named = [
  'Space',
  'Enter',
  'Escape',
  'Tab',
  'Backspace',
  'Delete',
  'Insert',
  'Home',
  'End',
  'PageUp',
  'PageDown',
  'ArrowLeft',
  'ArrowRight',
  'ArrowUp',
  'ArrowDown',
  'ContextMenu',
  ...Array.from({ length: 24 }, (_, i) => `F${i + 1}`),
]
const byLower = new Map(named.map((name) => [name.toLowerCase(), name]))
for (const [word, name] of Object.entries({
  esc: 'Escape',
  pgup: 'PageUp',
  pgdn: 'PageDown',
  del: 'Delete',
  return: 'Enter',
  left: 'ArrowLeft',
  right: 'ArrowRight',
  up: 'ArrowUp',
  down: 'ArrowDown',
  '\u2190': 'ArrowLeft',
  '\u2192': 'ArrowRight',
  '\u2191': 'ArrowUp',
  '\u2193': 'ArrowDown',
}))
  byLower.set(word, name)
const modifierOf: Readonly<Record<string, 'mod' | 'Alt' | 'Shift'>> = {
  mod: 'mod',
  ctrl: 'mod',
  control: 'mod',
  cmd: 'mod',
  command: 'mod',
  meta: 'mod',
  '\u2318': 'mod',
  '\u2303': 'mod',
  alt: 'Alt',
  option: 'Alt',
  '\u2325': 'Alt',
  shift: 'Shift',
  '\u21E7': 'Shift',
}
const isLetter = (key: string): boolean => key.toLowerCase() !== key.toUpperCase()
const isCharacter = (key: string): boolean => [...key].length === 1

interface Press {
  readonly mods: ReadonlySet<'mod' | 'Alt' | 'Shift'>
  readonly key: string
}
function pressOf(name: string): Press {
  // The key itself may be a plus.
  const words = name.endsWith('++') ? [...name.slice(0, -2).split('+'), '+'] : name === '+' ? ['+'] : name.split('+')
  const mods = words.slice(0, -1).map((word) => modifierOf[word.toLowerCase()] ?? 'mod')
  return { mods: new Set(mods), key: words.at(-1) ?? '' }
}
function nameOf({ mods, key }: Press): string {
  const shift = mods.has('Shift') && (!isCharacter(key) || isLetter(key))
  return `${mods.has('mod') ? 'mod+' : ''}${mods.has('Alt') ? 'Alt+' : ''}${shift ? 'Shift+' : ''}${key}`
}

/** Parses names of presses: `ctrl+k`, `⌘K`, `Shift N`, `g r`. @returns the stored name, or null if it is not valid */
export function parseKeys(text: string): string | null {
  const words = text
    .trim()
    .split(/\s+/)
    .flatMap((word) => {
      const glyphs = /^[\u2318\u2325\u21E7\u2303]+/.exec(word)?.[0] ?? ''
      const rest = word.slice(glyphs.length)
      const parts = rest.endsWith('++')
        ? [...rest.slice(0, -2).split('+'), '+']
        : rest === '+'
          ? ['+']
          : rest.split('+')
      return [...glyphs, ...parts.filter((part, i) => part !== '' || i > 0)]
    })
  const presses: string[] = []
  let mods = new Set<'mod' | 'Alt' | 'Shift'>()
  for (const word of words) {
    const mod = Object.hasOwn(modifierOf, word.toLowerCase()) ? modifierOf[word.toLowerCase()] : undefined
    if (mod) mods.add(mod)
    else {
      const key = byLower.get(word.toLowerCase()) ?? (isCharacter(word) ? word.toLowerCase() : undefined)
      if (key === undefined || !/^[^\p{C}\p{Z}]+$/u.test(key)) return null
      presses.push(nameOf({ mods, key }))
      mods = new Set()
    }
  }
  return mods.size > 0 || presses.length === 0 || presses.length > PRESSES_MOST ? null : presses.join(' ')
}

const shown: Readonly<Record<string, string>> = {
  ArrowLeft: '\u2190',
  ArrowRight: '\u2192',
  ArrowUp: '\u2191',
  ArrowDown: '\u2193',
  Escape: 'Esc',
  Delete: 'Del',
  PageUp: 'PgUp',
  PageDown: 'PgDn',
}
const marks = {
  mac: { mod: '\u2318', Alt: '\u2325', Shift: '\u21E7' },
  other: { mod: 'Ctrl', Alt: 'Alt', Shift: 'Shift' },
} as const

/** Key caps of one press, in the order in which they are held: `['Ctrl', 'K']`. */
export function capsOf(press: string, platform: Platform): string[] {
  const { mods, key } = pressOf(press)
  const order = platform === 'mac' ? (['Alt', 'Shift', 'mod'] as const) : (['mod', 'Alt', 'Shift'] as const)
  const held: string[] = order.filter((m) => mods.has(m)).map((m) => marks[platform][m])
  return [...held, shown[key] ?? (isCharacter(key) ? key.toUpperCase() : key)]
}
/** Notation of presses on this platform: `Ctrl K`, `⌘K`, `S R`. */
export const formatKeys = (keys: string, platform: Platform): string =>
  pressesOf(keys)
    .map((press) => capsOf(press, platform).join(platform === 'mac' ? '' : ' '))
    .join(' ')
/** Value for `aria-keyshortcuts`; a sequence has no such form. */
export function ariaKeys(keys: string, platform: Platform): string | undefined {
  if (pressesOf(keys).length > 1) return undefined
  const { mods, key } = pressOf(keys)
  const held = [
    mods.has('mod') && (platform === 'mac' ? 'Meta' : 'Control'),
    mods.has('Alt') && 'Alt',
    mods.has('Shift') && 'Shift',
  ]
  return [...held.filter(Boolean), key === '+' ? 'Plus' : key].join('+')
}

export const pressesOf = (keys: string): readonly string[] => keys.split(' ')
/** True for one press without Ctrl, Cmd or Alt. */
export const isSingleKey = (keys: string): boolean => !keys.includes(' ') && !/^(?:mod|Alt)\+/.test(keys)
/** True if the two are ambiguous: equal, or one is a prefix of the other. */
export const isClash = (a: string, b: string): boolean => a === b || a.startsWith(`${b} `) || b.startsWith(`${a} `)

export const platform: Platform = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '') ? 'mac' : 'other'
