/** Columns and flags of a life in its table. */

/** Number of its request's event; -1 in a free row. */
export const ID = 0
export const RESOURCE = 1
export const CLIENT = 2
export const REQ_ID = 3
export const REQUESTED_NS = 4
export const REQUIRED_START = 5
export const REQUIRED_END = 6
export const LOCK_ID = 7
export const GRANTED_NS = 8
export const GRANTED_SEQ = 9
export const START = 10
export const END = 11
export const SN = 12
export const MIN_SN = 13
export const REVOKED_NS = 14
export const REVOKED_SEQ = 15
export const CANCELING_NS = 16
export const CANCELING_SEQ = 17
/** First downgrade. */
export const DOWNGRADED_NS = 18
export const DOWNGRADED_SEQ = 19
export const ENDED_NS = 20
export const ENDED_SEQ = 21
/** First data of its SN that arrived at the server, and that was written: time, and bytes. */
export const ARRIVED_NS = 22
export const ARRIVED_BYTES = 23
export const WRITTEN_NS = 24
export const WRITTEN_BYTES = 25
export const WIDTH = 26

export const HAS_WAITED = 1
export const IS_EARLY_GRANT = 2
export const IS_EARLY_REVOCATION = 4
/** Listed; an unlisted life is still followed to its end. */
export const IS_LISTED = 8
