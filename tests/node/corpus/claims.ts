/**
 * Recorded answers that the emulator does not claim to give, with reasons. Everything else is claimed. An answer of this list
 * that is given all the same fails the test too, so the list is no longer than it must be.
 */
import type { Release } from '#core/lustre/release.ts'
import type { CorpusRecord } from './records.ts'

interface Exception {
  readonly reason: string
  readonly fits: (r: CorpusRecord) => boolean
  /** Given only because the load of the test puts its content there. */
  readonly isFed?: true
}

const command = (reason: string, pattern: RegExp): Exception => ({ reason, fits: (r) => pattern.test(r.command) })
const id = (reason: string, pattern: RegExp, ...releases: readonly Release[]): Exception => ({
  reason,
  fits: (r) => pattern.test(r.id) && (releases.length === 0 || releases.includes(r.release)),
})

const NOT_CLAIMED: readonly Exception[] = [
  command('other tools: lfs, lljobstat, mount, ls, top, time, dd', /^(?:lfs|mount|ls|top|time) |; dd /),
  // 2.15.8 was installed without it, and its shell says so.
  id('other tools: lfs, lljobstat, mount, ls, top, time, dd', /lljobstat/, '2.17', 'dev'),
  id("lctl's whole list of commands", /^node-(?:list-commands|lctl-version|nosuch)$/, '2.15'),
  id("lctl's whole list of commands", /^node-list-commands$/),
  command(
    'parameters that nothing emulated stands behind: llite, request history, disk space, imports, other tables',
    /ldlm_stats|rename_stats|osc\.\*\.stats|llite|req_history|kbytes|\.import|osc\S*\.state\b|\.export\b|lock_limit_mb|sys\/module/,
  ),
  id(
    'listings of directories in which such parameters lie',
    /^(?:node-list_param(?:$|-F|-R|-all|-ldlm)|err-get-(?:N|NF|R)$|exports-siblings$)/,
  ),
  id('listings of directories in which such parameters lie', /^node-list_param-services$/),
  id('what the disks of ZFS count', /^stats-(?:zero|load)-osd-stats$|^stats-load-brw-osd$/, '2.15'),
  id(
    'the order in which targets and the mount found each other, which is chance',
    /^(?:node-dl|node-device_list|ldlm-pool-state)$/,
    '2.17',
  ),
  id('the order in which targets and the mount found each other, which is chance', /^exports-uuid$/, 'dev'),
  {
    ...id('job ids that a client makes of jobid_name; only their printing is played', /^jobname-\d+-js$/),
    isFed: true,
  },
]

const exceptionOf = (r: CorpusRecord): Exception | undefined => NOT_CLAIMED.find((e) => e.fits(r))

/** Reason why an answer is not claimed; undefined if it is. */
export const reasonAgainst = (r: CorpusRecord): string | undefined => exceptionOf(r)?.reason

/** True if an answer that is not claimed may be given nevertheless. */
export const isFed = (r: CorpusRecord): boolean => exceptionOf(r)?.isFed === true

/** Answers with numbers that were counted or measured among those whose every byte follows from the commands before. */
const COUNTED = /^(?:err-get-(?:brace|slash|multi|multi-n)|noost-dl|P-llog)$/

/** True if every byte of an answer follows from the commands before it: rules, policies, messages, settings. */
export const isExact = (r: CorpusRecord): boolean =>
  /^(?:nrs|err|nomod|noost|P|stuck|typeswitch|stop)-/.test(r.id) && !COUNTED.test(r.id)
