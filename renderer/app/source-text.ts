/** Name of the active source, the same in the time strip, the status bar and the window title. */
import type { Level } from '#core/api/frames.ts'
import type { TierId } from '#core/api/history.ts'
import { fileName } from '../stores/bundle-name.ts'
import type { Naming } from '../stores/source.ts'
import { plainText } from '../format/plain-text.ts'
import { formatClock } from '../format/units.ts'

export type SourceLabel = 'LIVE' | 'PAUSED' | 'RECORDED' | 'EMULATED' | 'CONNECTING'

export function sourceLabel(naming: Naming | null, isPaused: boolean): SourceLabel {
  if (naming === null) return 'CONNECTING'
  if (naming.kind === 'RECORDED') return 'RECORDED'
  return isPaused ? 'PAUSED' : naming.kind
}

const tiers: Readonly<Record<TierId, string>> = {
  raw: 'raw samples',
  '1s': 'means of 1 s',
  '10s': 'means of 10 s',
  '1min': 'means of 1 min',
}
/** Range and resolution of a playback. */
export function playbackText({ cluster, playback }: Naming): string {
  if (playback === null) return 'recorded'
  if (playback.bundle)
    return `${plainText(fileName(playback.file ?? 'bundle'))}, of ${plainText(cluster)} ${playback.bundle.env}`
  return `${playback.file ?? 'local store'}, ${tiers[playback.tier]}`
}

export interface BundleText {
  /** File name. */
  readonly name: string
  /** `of altair PROD, 14:27 to 14:37` */
  readonly of: string
  /** `altair` */
  readonly cluster: string
  readonly names: string
  readonly integrity: { readonly level: Level; readonly word: string }
}
/** Description of an open bundle; null if no bundle is open. */
export function bundleText({ cluster, playback }: Naming): BundleText | null {
  const bundle = playback?.bundle
  if (playback == null || !bundle) return null
  const ends = `${formatClock(playback.fromMs, false)} to ${formatClock(playback.toMs, false)}`
  return {
    name: plainText(fileName(playback.file ?? 'bundle')),
    cluster: plainText(cluster),
    of: `of ${plainText(cluster)} ${bundle.env}, ${ends}`,
    names: bundle.redacted ? 'names are pseudonyms' : 'with names',
    integrity: bundle.verified
      ? { level: 'ok', word: 'integrity verified' }
      : { level: 'bad', word: 'integrity NOT verified' },
  }
}

/** Window title: names the source, so that a screenshot is unambiguous. */
export function windowTitle(naming: Naming | null, isPaused: boolean): string {
  const word = sourceLabel(naming, isPaused)
  return naming === null
    ? 'Sluice'
    : `${word} ${naming.cluster}${naming.playback?.file ? `, ${naming.playback.file}` : ''} \u00B7 Sluice`
}
