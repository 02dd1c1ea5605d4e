/** Small cluster that was sampled for some seconds, as the source of bundles. */
import { emulatedCluster, twoJobs } from '#tests/node/emulated-cluster.ts'
import type { ExportInput } from '#core/api/incidents.ts'
import { storedSlice } from '#electron/incidents/bundle/audit-slices.ts'
import type { BundleSource } from '#electron/incidents/bundle/bundle-source.ts'

/** Start of its clock, Unix ms. */
export const EPOCH = 1_767_225_600_000

export async function smallSource(seconds: number): Promise<BundleSource> {
  const { monitor, run } = emulatedCluster(twoJobs(), { mode: 'enforce' })
  await run(seconds)
  const { history } = monitor
  const db = history.connection()
  return {
    db,
    cluster: history.cluster,
    isRedacted: false,
    notebook: null,
    source: {
      kind: 'EMULATED',
      cluster: 'small',
      env: 'DEMO',
      scenario: 'Two servers',
      seed: 1,
      releases: monitor.servers.map((server) => ({ server, release: '2.16.0' })),
    },
    audit: (fromMs, toMs) => storedSlice(db, 'EMULATED', { fromMs, toMs }),
    readings: () => [
      { atMs: EPOCH + 2_000, server: 'oss01', what: 'obdfilter.*.job_stats', text: 'job_stats:\n- job_id: 1.hog.u1\n' },
      { atMs: EPOCH + 1_000, server: 'oss01', what: 'obdfilter.*.job_stats', text: '' },
    ],
  }
}

export const inputOf = (more: Partial<ExportInput> = {}): ExportInput => ({
  incident: null,
  span: { fromMs: EPOCH + 1_000, toMs: EPOCH + 5_000 },
  redact: true,
  detail: 'fit',
  leaveOut: [],
  name: null,
  ...more,
})
