/** Levels of values inside values that cross; deeper ones become `Unserializable`. */
export const depthMax = 1000
