/** How deeply values may be nested; deeper ones become `Unserializable`. */
export const depthMax = 1000
