//! How do the hooks of HTTP run: on requests, responses, events, and the bytes of connections?

use super::{Active, Edge, Firings, Hook, Meeting};
use crate::http::{Arrival, Departure, Event, Passage};

impl Edge {
    pub fn arrive(&mut self, arrival: &mut Arrival) -> Meeting {
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                if let Hook::Arrive(alter) = hook {
                    let before = arrival.clone();
                    let meeting = alter(memory, arrival);
                    let passes = matches!(meeting, Meeting::Pass);
                    if !passes || before != *arrival {
                        firings.add();
                    }
                    if !passes {
                        return meeting;
                    }
                }
            }
        }
        Meeting::Pass
    }

    pub fn depart(&mut self, arrival: &Arrival, departure: &mut Departure) {
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                if let Hook::Depart(alter) = hook {
                    let before = departure.outline();
                    alter(memory, arrival, departure);
                    if before != departure.outline() {
                        firings.add();
                    }
                }
            }
        }
    }

    /// The events that go out for one, each in the pieces in which it goes out.
    pub fn event(&mut self, passage: &Passage, event: Event) -> Vec<(Event, Vec<Vec<u8>>)> {
        let mut events = vec![event];
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                if let Hook::Event(alter) = hook {
                    let before = events.clone();
                    events = events.into_iter().flat_map(|event| alter(memory, passage, event)).collect();
                    if before != events {
                        firings.add();
                    }
                }
            }
        }
        events.into_iter().map(|event| (event.clone(), self.pieces(passage, event.to_bytes()))).collect()
    }

    fn pieces(&mut self, passage: &Passage, bytes: Vec<u8>) -> Vec<Vec<u8>> {
        let mut pieces = vec![bytes];
        for Active { row, memory, firings } in &mut self.0 {
            for hook in row.hooks {
                if let Hook::Pieces(alter) = hook {
                    let before = pieces.clone();
                    pieces = pieces.into_iter().flat_map(|piece| alter(memory, passage, piece)).collect();
                    if before != pieces {
                        firings.add();
                    }
                }
            }
        }
        pieces
    }

    /// The hooks for the bytes of a connection: those read, and those written.
    pub fn tampering(&self) -> Tampering {
        let mut tampering = Tampering::default();
        for Active { row, firings, .. } in &self.0 {
            for hook in row.hooks {
                match hook {
                    Hook::Reading(alter) => tampering.reading.push((*alter, firings.clone())),
                    Hook::Writing(alter) => tampering.writing.push((*alter, firings.clone())),
                    _ => {}
                }
            }
        }
        tampering
    }
}

/// What is done to the bytes of a connection.
#[derive(Clone, Default)]
pub(crate) struct Tampering {
    reading: Vec<Tamper>,
    writing: Vec<Tamper>,
}

/// One alteration of bytes, and how often it was one.
type Tamper = (fn(&mut [u8]), Firings);

impl Tampering {
    pub fn read(&self, bytes: &mut [u8]) {
        tamper(&self.reading, bytes);
    }

    pub fn write(&self, bytes: &mut [u8]) {
        tamper(&self.writing, bytes);
    }

    pub fn is_idle(&self) -> bool {
        self.reading.is_empty() && self.writing.is_empty()
    }
}

fn tamper(hooks: &[Tamper], bytes: &mut [u8]) {
    for (alter, firings) in hooks {
        let before = bytes.to_vec();
        alter(bytes);
        if before != bytes {
            firings.add();
        }
    }
}
