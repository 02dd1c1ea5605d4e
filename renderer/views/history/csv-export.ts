/** Contents and file names of CSV exports. */
import { planeExports, type CsvQuery, type Span } from '#core/api/history.ts'

export const csvWhats: readonly { readonly value: CsvQuery['what']; readonly label: string; readonly note: string }[] =
  [
    { value: 'cluster', label: 'Cluster', note: 'sums over all servers' },
    { value: 'jobs', label: 'Jobs', note: 'one row per job and sample' },
    { value: 'targets', label: 'Targets', note: 'one row per target and sample' },
    { value: 'events', label: 'Events', note: 'rules, decisions, notes' },
    { value: 'rules', label: 'Rules', note: 'with start and stop times' },
    { value: 'disk', label: 'Disk I/O', note: 'brw_stats histograms' },
    { value: 'timeouts', label: 'Timeouts', note: 'adaptive timeout estimates' },
    ...planeExports.map(({ id, title, note }) => ({ value: id, label: title, note })),
  ]

/** Formats an instant without colons, which not every file system allows. */
const stamp = (atMs: number): string => new Date(atMs).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')

/** File name of an export; the cluster's name is user text, so only plain characters of it are used. */
export function csvName(cluster: string, what: CsvQuery['what'], { fromMs, toMs }: Span): string {
  const plain = cluster
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._-]+/, '')
    .slice(0, 60)
  return `sluice-${plain || 'cluster'}-${what}-${stamp(fromMs)}-${stamp(toMs)}.csv`
}
