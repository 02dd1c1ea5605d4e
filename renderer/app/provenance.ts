/** Provenance of copied and saved data: source, instant, seed, version. */
import { ref, watch } from 'vue'
import { useConnectionStore } from '../stores/connection.ts'
import { useSourceStore } from '../stores/source.ts'
import { useTimeStore } from '../stores/time.ts'
import { formatClockUtc, formatDay } from '../format/units.ts'

/** @returns one line that names where the data is from, evaluated at the call. */
export function useProvenance(): () => string {
  const source = useSourceStore()
  const time = useTimeStore()
  const connection = useConnectionStore()
  const version = ref('')
  watch(
    () => connection.host,
    (host) => {
      void host?.api.host
        ?.info?.()
        .then((info) => (version.value = info.version))
        .catch(() => undefined)
    },
    { immediate: true },
  )
  return () => {
    const of = source.frame?.source
    const kind = source.naming?.kind ?? of?.kind ?? 'NO SOURCE'
    const word = kind === 'LIVE' && time.isPaused ? 'LIVE, PAUSED' : kind
    const at = time.atMs === null ? 'no sample' : `${formatDay(time.atMs)} ${formatClockUtc(time.atMs)} UTC`
    return [
      `${word} ${source.naming?.cluster ?? of?.cluster ?? ''}`.trim(),
      ...(of?.scenario === undefined ? [] : [of.scenario]),
      at,
      ...(of?.seed === undefined ? [] : [`seed ${of.seed}`]),
      `Sluice ${version.value}`.trim(),
    ].join('  \u00B7  ')
  }
}
