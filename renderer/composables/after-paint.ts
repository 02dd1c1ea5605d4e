/**
 * Calls `act` after the next painted frame: for costly work that the user does not wait for. A hidden page paints no
 * frames.
 *
 * @returns cancels the call.
 */
export function afterPaint(act: () => void): () => void {
  if (document.visibilityState === 'hidden') {
    const timer = setTimeout(act)
    return () => clearTimeout(timer)
  }
  let frame = requestAnimationFrame(() => {
    frame = requestAnimationFrame(act)
  })
  return () => cancelAnimationFrame(frame)
}
