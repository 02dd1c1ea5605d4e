/**
 * Which recorded answers the emulator does not claim to give, and why. An answer of this list that is given all the same
 * counts as claimed; one that is neither given nor listed fails the test.
 */
import type { CorpusRecord } from './records.ts'

interface Exception {
  readonly reason: string
  readonly fits: (r: CorpusRecord) => boolean
}

const command = (reason: string, pattern: RegExp): Exception => ({ reason, fits: (r) => pattern.test(r.command) })
const id = (reason: string, pattern: RegExp): Exception => ({ reason, fits: (r) => pattern.test(r.id) })

const NOT_CLAIMED: readonly Exception[] = [
  command('another tool: lfs, lljobstat, mount, ls, top, time', /^(?:lfs|mount|ls|top|time) |lljobstat/),
  id("lctl's own list of commands", /^node-(?:list-commands|lctl-version|nosuch)$/),
  command(
    'parameters that nothing emulated stands behind',
    /ldlm_stats|rename_stats|osd-\S*\.stats|osc\.\*\.stats|llite|req_history|kbytes|\.import|\.state\b|\.export\b|lock_limit_mb|sys\/module/,
  ),
  id(
    'listings that hold such parameters',
    /^(?:node-list_param|err-get-(?:N|NF|R)$|exports-siblings$|js-jobstats-files$)/,
  ),
  id('histograms of a load; their text is printed back to the same bytes', /^stats-load-(?:brw-osd|rpc|mdc-rpc)$/),
  id('what lock pools counted', /^ldlm-pool-/),
  id('how long services took', /^stats-\w+-timeouts$/),
  id('RPCs were queued or lost; emulated with a load of its own elsewhere', /^(?:stop|stuck|typeswitch)-/),
  id('devices and mounts in the order in which they came', /^(?:node-dl|node-device_list|noost-dl|exports-uuid)/),
  id('grep stops at bytes that are no text in its locale', /^js-odd-after-drop$/),
  id('I/O between the commands of one line', /^(?:jobsession|js-enable_stats_header0)$/),
  id('the log of an earlier day', /^P-llog$/),
]

/** Why an answer is not claimed; undefined: it is. */
export const reasonAgainst = (r: CorpusRecord): string | undefined => NOT_CLAIMED.find((e) => e.fits(r))?.reason
