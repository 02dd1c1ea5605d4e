/** Answers of an OSS that is also the MGS, of Lustre 2.15.8, for `sluice probe`. */
export const devices =
  '  2 UP ost OSS OSS_uuid 2\n  3 UP obdfilter testfs-OST0000 testfs-OST0000_UUID 6\n  4 UP mgs MGS MGS 4\n'
const policies =
  '\nregular_requests:\n  - name: fifo\n    state: started\n    fallback: yes\n    queued: 0\n    active: 0\n\n' +
  '  - name: tbf jobid\n    state: started\n    fallback: no\n    queued: 3\n    active: 1\n\n'
export const params = {
  version: 'version=2.15.8\n',
  jobid_var: 'jobid_var=SLURM_JOB_ID\n',
  jobid_name: 'jobid_name=%j\n',
  cpu_partition_table: 'cpu_partition_table=0\t: 0 1\n',
  'ost.OSS.ost_io.nrs_policies': `ost.OSS.ost_io.nrs_policies=\n${policies}`,
  'ost.OSS.ost_io.nrs_tbf_rule':
    'ost.OSS.ost_io.nrs_tbf_rule=\nregular_requests:\nCPT 0:\nsl_a {4690.*} 50, ref 1\ndefault {*} 10000, ref 0\n',
  'obdfilter.*.job_stats': `obdfilter.testfs-OST0000.job_stats=\njob_stats:\n${'x'.repeat(3000)}\n`,
  'mgs.MGS.live.*': 'mgs.MGS.live.testfs=\nfsname: testfs\nflags: 0x20     gen: 15\ntestfs-OST0000\ntestfs-OST0001\n',
}
