/** How what is on screen is named, the same in the strip, the status bar and the title of the window. */
import type { TierId } from '#core/api/history.ts'
import type { Naming } from '../stores/source.ts'

export type SourceWord = 'LIVE' | 'PAUSED' | 'RECORDED' | 'EMULATED' | 'CONNECTING'

export function sourceWord(naming: Naming | null, isPaused: boolean): SourceWord {
  if (naming === null) return 'CONNECTING'
  if (naming.kind === 'RECORDED') return 'RECORDED'
  return isPaused ? 'PAUSED' : naming.kind
}

const tiers: Readonly<Record<TierId, string>> = {
  raw: 'as sampled',
  '1s': 'means of 1 s',
  '10s': 'means of 10 s',
  '1min': 'means of 1 min',
}
/** Where what is played back lies, and how fine it is there. */
export function placeWords({ playback }: Naming): string {
  if (playback === null) return 'recorded'
  return `${playback.file ?? 'local store'}, ${tiers[playback.tier]}`
}

/** Title of the window: a picture of the desktop cannot be mistaken either. */
export function titleWords(naming: Naming | null, isPaused: boolean): string {
  const word = sourceWord(naming, isPaused)
  return naming === null
    ? 'Sluice'
    : `${word} ${naming.cluster}${naming.playback?.file ? `, ${naming.playback.file}` : ''} \u00B7 Sluice`
}
