/** What a login may do as root on a server, as `sudo -n -l` says. */

/**
 * root: logged in as root. read: lctl's readings alone. write: readings, and rules through the helper or set_param of rules.
 * broad: any command, or any lctl. none: nothing without a password; numbers read without root are wrong on recent releases.
 */
export type SudoKind = 'root' | 'read' | 'write' | 'broad' | 'none'

/** One command that sudo runs as root without a password, or with `isDenied` never. */
export interface SudoGrant {
  /** Path pattern of the program; `ALL`. */
  readonly program: string
  /** Pattern of its arguments joined by blanks; undefined: any; empty: none may be given. */
  readonly args: string | undefined
  readonly isDenied: boolean
}

export interface SudoScope {
  readonly kind: SudoKind
  /** For people: what is granted, or what sudo said. */
  readonly text: string
  /** What somebody should look at although it works; empty for nothing. */
  readonly watch: string
  /** Whether rules are written by the helper, which takes our own rules only. */
  readonly hasHelper: boolean
  /** Path of the helper as sudoers names it; empty without one. */
  readonly helper: string
  /** Path of lctl as sudoers names it. */
  readonly lctl: string
  /** What was listed for lctl and the helper, in the order of sudoers: the last one that fits counts. Bounded. */
  readonly grants: readonly SudoGrant[]
}

/** Where lctl is where nobody says otherwise. */
export const LCTL_PATH = '/usr/sbin/lctl'
/** Where the sudoers samples have the helper. */
export const HELPER_PATH = '/usr/local/sbin/sluice-rule'

/** Of a login as root. */
export const ROOT_SCOPE: SudoScope = {
  kind: 'root',
  text: 'logged in as root',
  watch:
    'Writing as root takes allow_root: true for the cluster. A login of its own with the sudoers sample is safer than root.',
  hasHelper: false,
  helper: '',
  lctl: LCTL_PATH,
  grants: [],
}

/** Of a login that sudo gives nothing. */
export const noScope = (text: string, lctl = LCTL_PATH): SudoScope => ({
  ...{ kind: 'none', text, watch: '', hasHelper: false, helper: '', lctl, grants: [] },
})
