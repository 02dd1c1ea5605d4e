/** What can be written as CSV, and what the file is called. */
import type { CsvQuery, Span } from '#core/api/history.ts'

export const csvWhats: readonly { readonly value: CsvQuery['what']; readonly label: string; readonly note: string }[] =
  [
    { value: 'cluster', label: 'Cluster', note: 'sums over all servers' },
    { value: 'jobs', label: 'Jobs', note: 'a row a job and sample' },
    { value: 'targets', label: 'Targets', note: 'a row a target and sample' },
    { value: 'events', label: 'Events', note: 'rules, decisions, notes' },
    { value: 'rules', label: 'Rules', note: 'each with its time' },
    { value: 'disk', label: 'Disk I/O', note: 'bins of brw_stats' },
    { value: 'timeouts', label: 'Timeouts', note: 'service estimates' },
  ]

/** Instants without colons, which not every file system takes. */
const stamp = (atMs: number): string => new Date(atMs).toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')

/** A cluster's name is text of a person: only plain characters of it name a file. */
export function csvName(cluster: string, what: CsvQuery['what'], { fromMs, toMs }: Span): string {
  const plain = cluster
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._-]+/, '')
    .slice(0, 60)
  return `sluice-${plain || 'cluster'}-${what}-${stamp(fromMs)}-${stamp(toMs)}.csv`
}
