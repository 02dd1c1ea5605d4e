import { describe, expect, it } from 'vitest'
import { filteredCommand } from '../probes/job-filter.ts'
import { FIND_READERS } from '../probes/other-readers.ts'
import { isReading } from './read-only.ts'

describe('what counts as reading', () => {
  it.each([
    'lctl get_param ost.OSS.ost_io.nrs_tbf_rule ost.OSS.ost_io.nrs_policies',
    "lctl get_param 'obdfilter.*.job_stats'",
    "lctl get_param -n 'obdfilter.*.recovery_status'; lctl dl",
    'squeue -a --json',
    'sluice ccpfs observe --after 77:2,78:0 --names 1,2',
    'systemctl is-system-running',
    'date +%s.%N',
    filteredCommand(['obdfilter.*.job_stats'], { s: 1, ns: 2 }),
    FIND_READERS,
  ])('%s does', (line) => expect(isReading(line)).toBe(true))

  it.each([
    "lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop a'",
    "lctl get_param version; lctl set_param ost.OSS.ost_io.nrs_tbf_rule='stop a'",
    "lctl set_param 'obdfilter.*.job_stats'=clear",
    `${FIND_READERS}; reboot`,
    'lctl get_param version;reboot',
    'lctl get_param version\nreboot',
    'lctl get_param $(reboot)',
    'lctl get_param `reboot`',
    'lctl get_param version >/etc/motd',
    'lctl get_param version &reboot',
    'date -s 12:00',
    'hostname x',
    'sluice ccpfs server --data /x',
    'sluice ccpfs observe --after 1:1;reboot',
    'systemctl stop sluice-a.timer',
    'scontrol update jobid=1',
    // A quote that is opened in one part is closed in the next, so that text that seems quoted is not.
    "lctl get_param 'x; id ';reboot;'; id '",
    "lctl get_param x'; id ';reboot; id '",
    'lctl get_param "x; id ";reboot',
    'lctl get_param x\\',
    `${filteredCommand(['version'], { s: 1, ns: 2 })}; reboot`,
    `lctl set_param x=y${filteredCommand(['version'], { s: 1, ns: 2 }).slice('lctl get_param version'.length)}`,
    '',
  ])('%j does not', (line) => expect(isReading(line)).toBe(false))
})
